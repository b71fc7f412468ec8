# mdoc.awk - functions of man1.awk, man3.awk and man7.awk: plain text to mdoc, the language of manual pages.
# SPDX-License-Identifier: MIT

# Escape text for mdoc: double backslashes, keep hyphens, protect lines that look like requests.
function plain(text) {
    gsub(/\\/, "\\e", text)
    gsub(/-/, "\\-", text)
    return text ~ /^[.']/ ? "\\\\\\&" text : text
}

# Escape text and put each sentence on its own line, as mdoc recommends; strip trailing blanks.
function sentences(text) {
    text = plain(text)
    gsub(/[.] +/, ".\n", text)
    gsub(/\n[.']/, "\n\\\\\\&&", text)
    gsub(/[ \t]+\n/, "\n", text)
    sub(/[ \t]+$/, "", text)
    return text
}

function head(file, title, section) {
    printf ".\\\" Made from the program's own tables and headers: do not edit.\n.Dd %s\n.Dt %s %s\n.Os stdcl %s\n", \
        date, toupper(title), section, version > file
}

# Sorts list[1..n].
function sort(list, n,    i, j, held) {
    for (i = 2; i <= n; i++) {
        held = list[i]
        for (j = i; j > 1 && list[j - 1] > held; j--)
            list[j] = list[j - 1]
        list[j] = held
    }
}
