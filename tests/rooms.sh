#!/bin/sh
# rooms.sh - check the dependencies of libstdcl's rooms: profile, template and tune use the core,
# and the core uses none of them, neither by a file nor by a name.
#   usage: rooms.sh includes SOURCE                       check the #includes of the rooms
#          rooms.sh names NM CORE_OBJECT... : OBJECT...   check the symbols used by the core's
#          objects
# SPDX-License-Identifier: MIT
set -eu
step=$1
shift

# "FILE PATH" of each #include "PATH" in a room.
includes_of() {
    grep -roE '#include "[^"]+"' "$1" --include='*.c' --include='*.h' | sed -E 's/:#include "(.*)"/ \1/'
}

# Of these, the ones that a room may not have.
foreign_to() {
    includes_of "$1" | awk -v room="$1/" '
        $2 == "stdcl.h" || $2 ~ /^stdcl\// || index($2, room) == 1 { next }
        $2 ~ /^core\/(context|events|memory|program|kernel|environment)\.h$/ { print $1 " includes " $2; next }
        index($2, "core/") == 1 { next }
        { print $1 " includes " $2 }'
}

# needed_of_others NM CORE_OBJECT... : OBJECT...
needed_of_others() {
    nm=$1 core=
    shift
    while [ "$1" != : ]; do
        core="$core $1"
        shift
    done
    shift
    # shellcheck disable=SC2086 # a list of objects
    { "$nm" -u $core && "$nm" -g --defined-only "$@"; } | awk '
        $1 == "U" { needed[$2] = 1; m++ }
        NF == 3 { theirs[$3] = 1; n++ }
        END {
            if (n < 50 || m < 50) print "only " n " names of the rooms and " m " that the core needs were found"
            for (name in needed)
                if (name in theirs && name != "core_observer" && name != "core_generator")
                    print "the core needs " name
        }'
}

case $step in
includes)
    cd "$1"
    found=$(for room in core profile template tune; do
        [ -n "$(includes_of $room)" ] || echo "no #include in $room/"
        foreign_to $room
    done)
    ;;
names)
    found=$(needed_of_others "$@")
    ;;
esac
[ -z "$found" ] || { echo "FAILED: $found" >&2; exit 1; }
