# links.awk - fit the links of a Markdown page of the sources to an installation.
#   usage: awk -f links.awk -v page=docs/layer.md -v sources='a b' -v installed='include/=../../include/ ...' PAGE
#
#   page        the page's path in the sources, and below the folder of documents
#   installed   files and folders with their installed path from the folder of documents: SOURCE=PATH. Folders end in /
#   sources     top-level files and folders of the sources. Links into them, unless `installed` has a
#               row, become text: [text](../life/hash.c) is "text, `life/hash.c` in the sources"
#
# Other links stay: addresses, and pages that are installed at their place.
# SPDX-License-Identifier: MIT
BEGIN {
    RS = "\001"
    for (n = split(installed, rows, " "); n > 0; n--) {
        at = index(rows[n], "=")
        place[substr(rows[n], 1, at - 1)] = substr(rows[n], at + 1)
    }
    for (n = split(sources, rows, " "); n > 0; n--)
        source[rows[n]] = 1
    depth = gsub("/", "/", page)
    folder = page
    sub("[^/]*$", "", folder)
    for (; depth > 0; depth--)
        up = up "../"
}

# The path of a link from the top of the sources, "" if it leaves them.
function from_top(path,    parts, i, n, kept, out) {
    n = split(folder path, parts, "/")
    kept = 0
    for (i = 1; i <= n; i++)
        if (parts[i] == ".." && --kept < 0)
            return ""
        else if (parts[i] != ".." && parts[i] != ".")
            parts[++kept] = parts[i]
    for (i = 1; i <= kept; i++)
        out = out (i > 1 ? "/" : "") parts[i]
    return out
}

# The installed path of a file: the longest row that begins it. "" if there is none.
function installed_path(path,    head) {
    if (path in place)
        return place[path]
    for (head = path; sub("[^/]+/?$", "", head) && head != "";)
        if (head in place)
            return place[head] substr(path, length(head) + 1)
    return ""
}

function rewritten(text, path,    top, to) {
    top = path
    sub("/.*", "", top)
    to = installed_path(path)
    if (to != "")
        return "[" text "](" up to ")"
    return source[top] ? text (index(text, path) ? "" : ", `" path "`") " in the sources" : ""
}

{
    while (match($0, /\[[^][]+\]\([^()# \t\n]+(#[^() \t\n]*)?\)/)) {
        whole = substr($0, RSTART, RLENGTH)
        at = index(whole, "](")
        target = substr(whole, at + 2, length(whole) - at - 2)
        sub("#.*", "", target)
        new = target ~ /^[a-z]+:/ ? "" : rewritten(substr(whole, 2, at - 2), from_top(target))
        printf "%s%s", substr($0, 1, RSTART - 1), new == "" ? whole : new
        $0 = substr($0, RSTART + RLENGTH)
    }
    printf "%s", $0
}
