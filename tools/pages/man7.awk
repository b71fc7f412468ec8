# man7.awk - a manual page of section 7 from a page of docs/: headings, paragraphs, samples and tables of two columns.
#   usage: awk -v dir=DIR -v name=stdcl-environment -v date='November 22, 2026' -v version=1.0.0 -f mdoc.awk -f man7.awk PAGE
# Writes DIR/NAME.7.
# SPDX-License-Identifier: MIT

function flush() {
    gsub(/`/, "", text)
    if (text != "")
        print sentences(text) > page
    text = ""
}
function leave_table() {
    if (rows)
        print ".El" > page
    rows = 0
}

/^```/ {
    flush()
    fenced = !fenced
    print fenced ? ".Bd -literal -offset 2n" : ".Ed" > page
    next
}
fenced {
    print plain($0) > page
    next
}
/^    / {
    flush()
    printf ".Dl %s\n", plain(substr($0, 5)) > page
    next
}
/^# / && !page {
    page = dir "/" name ".7"
    head(page, name, 7)
    printf ".Sh NAME\n.Nm %s\n.Nd %s of stdcl\n.Sh DESCRIPTION\n", plain(name), tolower(substr($0, 3)) > page
    next
}
/^## / {
    flush()
    leave_table()
    printf ".Ss %s\n", plain(substr($0, 4)) > page
    next
}
/^\|/ {
    flush()
    split($0, cell, / *\| */)
    if (cell[2] ~ /^(-+|variable|file)$/)
        next
    if (!rows++)
        print ".Bl -tag -width Ds" > page
    gsub(/`/, "", cell[2])
    gsub(/`/, "", cell[3])
    printf ".It %s\n%s\n", plain(cell[2]), sentences(cell[3]) > page
    next
}
/^$/ {
    flush()
    leave_table()
    next
}
{ text = text (text == "" ? "" : " ") $0 }

END {
    flush()
    leave_table()
    print ".Sh SEE ALSO\n.Xr stdcl 1 ,\n.Xr stdcl 3" > page
}
