#!/bin/sh
# rebound.sh - few bodies: `stdcl nbody` beside REBOUND, on one thread of the CPU.
#
#   bench/rebound.sh BUILD_FOLDER          leapfrog, whfast, trace and ias15 for 3, 10, 30 and 100 bodies
#   bench/rebound.sh BUILD_FOLDER long     ten planets for a million years by whfast
#
# REBOUND must be installed: $REBOUND names a folder with rebound.h and librebound.so, or Python's
# package rebound is used. Nothing of REBOUND is built. A star and planets on circles 1.06 (up to 30
# bodies 1.35) times the previous one start at 1 au; the step is 4 days. Each row is a line of JSON:
# nanoseconds of a step (ias15: of 4 days), the fastest of three alternating runs (long: the only
# one), and the relative energy errors. Energies of both programs are computed by `stdcl nbody`. Runs that do not conserve
# energy, and ias15, whfast and trace of both programs in different places, are failures.
# SPDX-License-Identifier: MIT
set -eu
build=$1 long=${2:-}
here=$(cd "$(dirname "$0")" && pwd)
stdcl=$build/bin/stdcl
G=0.00029591220828559115
temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT INT TERM

find_rebound() { # sets header and library
    folder=${REBOUND:-$(python3 -c 'import os, rebound; print(os.path.dirname(rebound.__file__))' 2>/dev/null || :)}
    header=$(find "${folder:-/nowhere}" "${folder:-/nowhere}/src" -maxdepth 1 -name rebound.h 2>/dev/null | head -n 1)
    library=$(find "${folder:-/nowhere}" "${folder:-/nowhere}/.." -maxdepth 1 -name 'librebound*.so' 2>/dev/null | head -n 1)
    [ -n "$header" ] && [ -n "$library" ] && return 0
    echo "rebound.sh: no rebound.h and librebound.so; install Python's package rebound, or set REBOUND to their folder" >&2
    exit 77
}

build_peer() {
    cc -O2 -D_GNU_SOURCE -I"$(dirname "$header")" "$here/rebound.c" "$library" \
        -Wl,-rpath,"$(cd "$(dirname "$library")" && pwd)" -lm -o "$temporary/peer"
}

make_bodies() { # make_bodies N > FILE
    awk -v n="$1" -v G=$G 'BEGIN {
        print 1, 0, 0, 0, 0, 0, 0
        for (i = 1; i < n; i++) {
            a = (n > 30 ? 1.06 : 1.35) ^ (i - 1); angle = 2.4 * i; v = sqrt(G * (1 + 1e-6) / a)
            printf "1e-6 %.17g %.17g %.17g %.17g %.17g 0\n", a * cos(angle), a * sin(angle),
                0.01 * a * sin(3 * angle), -v * sin(angle), v * cos(angle)
        }
    }'
}

value() { # value KEY < JSON
    sed -n "s/^ *\"$1\": \([^,]*\),*$/\1/p"
}

energy_of() { # energy_of FILE
    "$stdcl" nbody -i "$1" --eps 0 --dt 1 --steps 0 -G $G --precision double --json -q | value energy_start
}

run_stdcl() { # run_stdcl INTEGRATOR STEPS: prints seconds
    dt=4 steps=$2
    [ "$1" != ias15 ] || dt=$(awk -v s="$2" 'BEGIN { print 4 * s }') steps=1
    [ "$1" != ias15 ] || [ "$2" != 0 ] || steps=0
    "$stdcl" nbody -i "$temporary/bodies.tab" --integrator "$1" --dt "$dt" --steps "$steps" --eps 0 \
        -G $G --json -q -o "$temporary/own.tab" | value seconds
}

run_peer() { # run_peer INTEGRATOR STEPS: prints seconds
    name=$1
    [ "$1" != whfast ] || name=whfast17
    "$temporary/peer" "$name" $G 4 "$2" < "$temporary/bodies.tab" > "$temporary/peer.out"
    sed 1d "$temporary/peer.out" > "$temporary/peer.tab"
    sed -n 1p "$temporary/peer.out"
}

fastest() { sort -g | sed -n 1p; }

# Largest difference of a coordinate from the first body.
largest_difference() {
    grep -hv '^#' "$temporary/own.tab" | cut -d ' ' -f 2-4 > "$temporary/a"
    cut -d ' ' -f 2-4 "$temporary/peer.tab" | paste -d ' ' "$temporary/a" - | awk '
        NR == 1 { for (c = 1; c <= 6; c++) star[c] = $c }
        { for (c = 1; c <= 3; c++) { d = $c - star[c] - ($(c + 3) - star[c + 3]); d = d < 0 ? -d : d; if (d > most) most = d } }
        END { printf "%.2g", most }'
}

race() { # race INTEGRATOR N STEPS
    make_bodies "$2" > "$temporary/bodies.tab"
    for k in $turns; do
        run_stdcl "$1" "$3" >> "$temporary/own.times"
        run_peer "$1" "$3" >> "$temporary/peer.times"
    done
    own=$(fastest < "$temporary/own.times") peer=$(fastest < "$temporary/peer.times")
    rm "$temporary/own.times" "$temporary/peer.times"
    awk -v integrator="$1" -v n="$2" -v steps="$3" -v own="$own" -v peer="$peer" -v off="$(largest_difference)" \
        -v e0="$(energy_of "$temporary/bodies.tab")" -v e1="$(energy_of "$temporary/own.tab")" \
        -v e2="$(energy_of "$temporary/peer.tab")" 'BEGIN {
        error = e1 / e0 - 1; error = error < 0 ? -error : error
        other = e2 / e0 - 1; other = other < 0 ? -other : other
        printf "{\"integrator\": \"%s\", \"n\": %d, \"steps\": %d, \"ns\": %.4g, \"rebound_ns\": %.4g, \"ratio\": %.2f, \"energy_error\": %.2g, \"rebound_energy_error\": %.2g, \"difference_au\": %s}\n",
            integrator, n, steps, 1e9 * own / steps, 1e9 * peer / steps, own / peer, error, other, off
        exit !(error < 1e-4 && other < 1e-4 && (integrator == "leapfrog" || steps > 50000000 || off < 1e-4))
    }' || { echo "rebound.sh: $1, $2 bodies: wrong" >&2; exit 1; }
}

find_rebound
build_peer
turns="1 2 3"
if [ "$long" = long ]; then
    turns=1 # rounding alone moves the innermost planet by some 1e-4 au in that time
    race whfast 11 91310500
    exit 0
fi
for integrator in leapfrog whfast trace ias15; do
    for n in 3 10 30 100; do
        steps=$((20000000 / n / n))
        [ "$integrator" != ias15 ] || steps=$((steps / 10))
        race "$integrator" "$n" "$steps"
    done
done
