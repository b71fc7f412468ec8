# figures.awk - check that every figure of a document's tables is in the results file linked before the table.
#   awk -f figures.awk RESULTS_FOLDER PAGE.md...
#
# A table belongs to the last link to bench/results/NAME.json before it. The number in a row's first
# column (262,144 or 2^30) selects the entries that contain it; without a number, all entries count.
# A figure is found if one of their values, in any power of a thousand, or the quotient of two
# values of equal name, rounds to it.
# SPDX-License-Identifier: MIT
BEGIN {
    folder = ARGV[1]
    ARGV[1] = ""
}
match($0, /bench\/results\/[A-Za-z0-9_.-]+\.json/) {
    load(substr($0, RSTART + 14, RLENGTH - 14))
}
/^\|/ && rows {
    n = split($0, cell, "|")
    if (cell[2] ~ /^-+$/ || cell[2] ~ /^ what /)
        next
    pick(cell[2])
    for (c = 3; c < n; c++)
        for (rest = cell[c]; match(rest, /[0-9]+\.[0-9]+|[0-9]+/);) {
            figure = substr(rest, RSTART, RLENGTH)
            rest = substr(rest, RSTART + RLENGTH)
            checked++
            if (!found(figure)) {
                printf "%s:%d: %s is not in %s%s\n", FILENAME, FNR, figure, name, key == "" ? "" : ", rows with " key
                bad++
            }
        }
}
END {
    if (checked == 0 || bad) {
        print checked + 0 " figures, " bad + 0 " of them not in the data"
        exit 1
    }
}

function load(file,    line, status) {
    name = file
    rows = 0
    while ((status = (getline line < (folder "/" file))) > 0)
        if (line ~ /^ *\{"/)
            row[++rows] = line
    close(folder "/" file)
    if (status < 0) {
        print "cannot read " folder "/" file
        bad++
    }
}

# Set picked[1 .. npicked], entries as "key value" pairs.
function pick(what,    i, base) {
    key = ""
    if (match(what, /[0-9]+\^[0-9]+/)) {
        split(substr(what, RSTART, RLENGTH), base, "^")
        key = base[1] ^ base[2]
    } else if (match(what, /[0-9][0-9]*,[0-9][0-9,]*/)) {
        key = substr(what, RSTART, RLENGTH)
        gsub(/,/, "", key)
    }
    npicked = 0
    for (i = 1; i <= rows; i++)
        if (key == "" || row[i] ~ ("[^0-9]" key "[^0-9]"))
            picked[++npicked] = row[i]
}

function found(figure,    i, j, v, w, rest, pair, k, half, values, names) {
    half = match(figure, /\./) ? 0.5 / 10 ^ (length(figure) - RSTART) : 0.5
    values = 0
    for (i = 1; i <= npicked; i++)
        for (rest = picked[i]; match(rest, /"[a-zA-Z_0-9]+": -?[0-9][-+.0-9eE]*/);) {
            split(substr(rest, RSTART, RLENGTH), pair, "\": ")
            rest = substr(rest, RSTART + RLENGTH)
            v[++values] = pair[2] + 0
            names[values] = pair[1]
            for (k = -4; k <= 4; k++)
                if (near(v[values] * 1000 ^ k, figure, half))
                    return 1
        }
    for (i = 1; i <= values; i++)
        for (j = 1; j <= values; j++)
            if (names[i] == names[j] && v[j] > 0 && near(v[i] / v[j], figure, half))
                return 1
    return 0
}

function near(value, figure, half) {
    return value - figure <= half * 1.001 && figure - value <= half * 1.001
}
