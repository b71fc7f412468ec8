#!/bin/sh
# layout.sh - print sizes and offsets of all structs in the public headers.
#   usage: layout.sh INCLUDE_FOLDER CC        `make layout` writes tests/install/layout.txt with it
#
# A line has five tab-separated columns: struct, field, offset, size, type. Structs are sorted by name, fields are in
# order after the struct's own line (field "-"); union members have names such as as.integer.
#
# An awk parser reads the headers; it knows the C that they use: no bit-fields, no structs inside structs.
# SPDX-License-Identifier: MIT
set -eu
include=$1 cc=$2
box=$(mktemp -d)
trap 'rm -rf "$box"' EXIT

(
    cd "$include"
    for header in stdcl.h stdcl/*.h; do
        echo "#include <$header>"
    done
) >"$box/all.h"

cat >"$box/layout.awk" <<'AWK'
# Keep text of our headers only; `names` holds their paths as the compiler prints them.
/^# / { ours = index($3, "\"" folder "/") == 1; next }
ours { text = text " " $0 }

function trim(s) {
    gsub(/[ \t]+/, " ", s)
    sub(/^ /, "", s)
    sub(/ $/, "", s)
    return s
}

# Position of the brace that closes the one at `from`.
function closing(s, from,    depth, i, c) {
    for (i = from; i <= length(s); i++) {
        c = substr(s, i, 1)
        depth += (c == "{") - (c == "}")
        if (depth == 0)
            return i
    }
    return 0
}

function row(type, name, field, as) {
    printf "    printf(\"%s\\t%s\\t%%zu\\t%%zu\\t%s\\n\", offsetof(%s, %s), sizeof ((%s *)0)->%s);\n", name, field, as,
        type, field, type, field
}

# One declarator after a base type: *name, name[4], (*name)(int).
function declarator(type, name, base, d, prefix,    stars, array, field) {
    d = trim(d)
    if (match(d, /^\( ?\* ?[A-Za-z_0-9]+\)/)) {
        field = substr(d, RSTART, RLENGTH)
        gsub(/[()* ]/, "", field)
        sub(/^\( ?\* ?[A-Za-z_0-9]+\)/, "(*)", d)
        return row(type, name, prefix field, trim(base " " d))
    }
    while (sub(/^\* ?/, "", d))
        stars = stars "*"
    if (match(d, /\[.*/)) {
        array = substr(d, RSTART)
        d = substr(d, 1, RSTART - 1)
    }
    row(type, name, prefix trim(d), trim(base (stars != "" ? " " stars : "") array))
}

function member(type, name, m, prefix,    base, n, part, i) {
    m = trim(m)
    if (match(m, /\( ?\*/)) { # a pointer to a function, which has commas of its own; its result may be a pointer
        base = substr(m, 1, RSTART - 1)
        return declarator(type, name, base, substr(m, RSTART), prefix)
    }
    n = split(m, part, ",")
    match(part[1], /[* ]*[A-Za-z_0-9]+ ?(\[.*)?$/) # the first declarator; what stands before it is the type of all
    base = substr(part[1], 1, RSTART - 1)
    part[1] = substr(part[1], RSTART)
    for (i = 1; i <= n; i++)
        declarator(type, name, base, part[i], prefix)
}

function members(type, name, body, prefix,    end, m, i) {
    while (match(body, /[^ ]/)) {
        if (match(body, /^ *union *\{/)) {
            end = closing(body, RLENGTH)
            m = substr(body, RLENGTH + 1, end - RLENGTH - 1)
            body = substr(body, end + 1)
            i = index(body, ";")
            row(type, name, prefix trim(substr(body, 1, i - 1)), "union")
            members(type, name, m, prefix trim(substr(body, 1, i - 1)) ".")
        } else {
            i = index(body, ";")
            member(type, name, substr(body, 1, i - 1), prefix)
        }
        body = substr(body, i + 1)
    }
}

END {
    print "#include \"all.h\"\n#include <stdio.h>\nint main(void)\n{"
    gsub(/__attribute__ *\(\([^()]*(\([^()]*\))?[^()]*\)\)/, "", text)
    while (match(text, /(typedef +)?struct( +[A-Za-z_0-9]+)? *\{/)) {
        head = substr(text, RSTART, RLENGTH)
        text = substr(text, RSTART + RLENGTH)
        end = closing("{" text, 1) - 1
        body = substr(text, 1, end - 1)
        text = substr(text, end + 1)
        name = head
        sub(/^typedef +/, "", name)
        sub(/ *\{$/, "", name)
        type = trim(name)
        sub(/^struct ?/, "", name)
        name = trim(name)
        if (head ~ /^typedef/) {
            name = type = trim(substr(text, 1, index(text, ";") - 1))
        }
        printf "    printf(\"%s\\t-\\t0\\t%%zu\\tstruct\\n\", sizeof(%s));\n", name, type
        members(type, name, body, "")
    }
    print "    return 0;\n}"
}
AWK

"$cc" -I "$include" -E -x c "$box/all.h" | awk -v folder="$include" -f "$box/layout.awk" >"$box/layout.c"
"$cc" -I "$include" -I "$box" -o "$box/layout" "$box/layout.c"
"$box/layout" | LC_ALL=C sort -s -t "$(printf '\t')" -k 1,1
