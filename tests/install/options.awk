# options.awk - test that every option is in the page of its command and in the completions of three
# shells.
#   usage: awk -f options.awk OPTIONS PAGE_OF_SECTION_1... BASH ZSH FISH          a line of OPTIONS: nbody --input
# SPDX-License-Identifier: MIT
FNR == 1 {
    file = FILENAME
    sub(/.*\//, "", file)
    place = file ~ /\.1$/ ? "page" : file == "stdcl" ? "bash" : file == "_stdcl" ? "zsh" : file ~ /\.fish$/ ? "fish" : "table"
    command = file
    gsub(/^stdcl-|\.1$/, "", command)
}
place == "table" { options[++count] = $0 }
place == "page" && /Fl / {
    gsub(/\\&/, "")
    gsub(/\\-/, "-")
    for (i = 1; i < NF; i++)
        if ($i == "Fl")
            have[place, command " -" $(i + 1)] = 1
}
place == "bash" && /\) words='/ {
    command = $1
    sub(/\)$/, "", command)
    gsub(/^[^']*'|'.*/, "")
    for (i = 1; i <= NF; i++)
        have[place, command " " $i] = 1
}
place == "zsh" && /^    [a-z-]+\)$/ {
    command = $1
    sub(/\)$/, "", command)
}
place == "zsh" && match($1, /^'\*-+[A-Za-z0-9-]+/) { have[place, command " " substr($1, 3, RLENGTH - 2)] = 1 }
place == "fish" && match($0, /from [a-z-]+'/) {
    command = substr($0, RSTART + 5, RLENGTH - 6)
    for (i = 1; i < NF && $i != "-d"; i++)
        if ($i == "-l" || $i == "-s")
            have[place, command ($i == "-l" ? " --" : " -") $(i + 1)] = 1
}
END {
    split("page bash zsh fish", places, " ")
    for (i = 1; i <= count; i++)
        for (p = 1; p <= 4; p++)
            if (!((places[p], options[i]) in have)) {
                print places[p] " lacks " options[i]
                bad = 1
            }
    exit bad
}
