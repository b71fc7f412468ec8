#!/bin/sh
# owners.sh - an object of the N-body engine is a folder of nbody/. Only its files write its members of struct nbody and
# struct nbody_device, and only they include its private headers: all but NAME/NAME.h and a few below.
#   usage: owners.sh SOURCE_FOLDER
# SPDX-License-Identifier: MIT
set -eu
cd "$1/nbody"
status=0

fail() { # fail SENTENCE LINES
    [ -z "$2" ] || { printf '%s\n%s\n' "$1" "$2" >&2; status=1; }
}

# An assignment, increment or decrement of a member.
changed='(\[[^]]*\])*(\.[a-z_]+)*(\[[^]]*\])* *(=[^=]|\+=|-=|\|=|&=|\+\+|--)'

for object in particles domain force integrator simulation; do
    member=$object
    [ $object != integrator ] || member=integration
    others=$(ls ./*.c ./*/*.c ./*/*.h | grep -v "^\./$object/")
    # shellcheck disable=SC2086
    fail "nbody/$object owns these; call a function of $object/$object.h:" \
        "$(grep -nE "(nb|p|q)->$member\.[a-z_]+$changed" $others || :)"
    # shellcheck disable=SC2086
    fail "private headers of nbody/$object; its other files include $object/$object.h:" \
        "$(grep -nE "#include \"nbody/$object/" $others |
            grep -vE "\"nbody/($object/$object|force/tree|force/sums|particles/body_blocks)\.h\"" || :)"
done

# Members of a device that have owners of their own, as device/device.h says.
owned_by() { # owned_by FOLDER MEMBERS
    # shellcheck disable=SC2046
    fail "nbody/$1 owns these members of a device:" \
        "$(grep -nE "\b(p|q|device)->($2) *(=[^=]|\+=|-=|\+\+|--)" $(ls ./*.c ./*/*.c | grep -vE "^\./($1|ensemble)/") || :)"
}
owned_by domain 'first|rows|count'
owned_by particles 'state'
owned_by device 'bad|bytes|dev|untracked|max_polls'
[ $status = 0 ] && echo "nbody: each object writes its own members"
exit $status
