#!/bin/sh
# circles.sh - fail if the files of a room call each other in a circle.
#   usage: circles.sh ROOM OBJECT...
# A file depends on another if it uses a symbol that the other defines, by nm; tsort finds circles.
# SPDX-License-Identifier: MIT
set -eu
room=$1
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# "user definer", one line for each pair of files
nm -A -g "$@" | awk '
    {
        split($0, part, ":")
        file = part[1]
        sub(/.*\//, "", file)
        sub(/\.o$/, "", file)
        name = $NF
        if ($(NF - 1) == "U")
            uses[file, name] = 1
        else
            definer[name] = file
    }
    END {
        for (pair in uses) {
            split(pair, part, SUBSEP)
            if (part[2] in definer && definer[part[2]] != part[1])
                print part[1], definer[part[2]]
        }
    }' | sort -u >"$work/pairs"

pairs=$(wc -l <"$work/pairs")
if [ "$pairs" -eq 0 ]; then
    echo "$room: no file uses another; were these the right objects?"
    exit 1
fi
if ! tsort "$work/pairs" >/dev/null 2>"$work/circles"; then
    echo "$room: these files call each other in a circle; put what both sides need into a third file:"
    sed 's/^tsort: //' "$work/circles"
    exit 1
fi
echo "$room: $pairs dependencies among its files, none in a circle"
