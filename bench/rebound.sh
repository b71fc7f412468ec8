#!/bin/sh
# rebound.sh - few bodies: `stdcl nbody` beside REBOUND, on one thread of the CPU.
#
#   bench/rebound.sh BUILD_FOLDER          leapfrog, whfast, trace and ias15 for 3, 10, 30 and 100 bodies
#   bench/rebound.sh BUILD_FOLDER long     ten planets for a million years by whfast
#   bench/rebound.sh BUILD_FOLDER ensemble [SECONDS [SYSTEMS]]
#
# REBOUND must be installed: $REBOUND names a folder with rebound.h and librebound.so, or Python's
# package rebound is used. Nothing of REBOUND is built. A star and planets on circles 1.06 (up to 30
# bodies 1.35) times the previous one start at 1 au; the step is 4 days. Each row is a line of JSON:
# nanoseconds of a step (ias15: of 4 days), the fastest of three alternating runs (long: the only
# one), and the relative energy errors. Energies of both programs are computed by `stdcl nbody`. Runs that do not conserve
# energy, and ias15, whfast and trace of both programs in different places, are failures.
#
# ensemble: SYSTEMS (default 1,000,000) perturbed copies of a star with two planets, and of the Sun with
# the eight planets, for SECONDS (default 20) on all devices of the default context: steps of
# ensembles, and whfast with the corrector of order 17. Beside it REBOUND's whfast with this
# corrector, for SECONDS on all cores: $PROCESSES processes (default: one per core) at once, each
# integrates systems one after another. A row has the system steps per second of both programs, and
# the hours that 1,000,000 systems take for 10,000 years. First both programs make 1,000 steps of one
# system by whfast; its places must agree. Without REBOUND only stdcl is measured.
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
    return 77
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
    awk -v integrator="$1" -v n="$2" -v far="$long" -v steps="$3" -v own="$own" -v peer="$peer" -v off="$(largest_difference)" \
        -v e0="$(energy_of "$temporary/bodies.tab")" -v e1="$(energy_of "$temporary/own.tab")" \
        -v e2="$(energy_of "$temporary/peer.tab")" 'BEGIN {
        error = e1 / e0 - 1; error = error < 0 ? -error : error
        other = e2 / e0 - 1; other = other < 0 ? -other : other
        printf "{\"integrator\": \"%s\", \"n\": %d, \"steps\": %d, \"ns\": %.4g, \"rebound_ns\": %.4g, \"ratio\": %.2f, \"energy_error\": %.2g, \"rebound_energy_error\": %.2g, \"difference_au\": %s}\n",
            integrator, n, steps, 1e9 * own / steps, 1e9 * peer / steps, own / peer, error, other, off
        exit !(error < 1e-4 && other < 1e-4 && (integrator == "leapfrog" || far || off < 1e-4))
    }' || { echo "rebound.sh: $1, $2 bodies: wrong" >&2; exit 1; }
}

# ---- Ensembles. ----------------------------------------------------------------------------------

make_solar_system() { # the Sun and the eight planets, without names, the Moon and Pluto
    awk '/^#/ { next } { n++ } n != 5 && n != 11 { print $1, $2, $3, $4, $5, $6, $7 }' "$here/../data/solar.tab"
}

# run_ensemble OPTION...: seconds and rates as JSON in ensemble.json
run_ensemble() {
    "$stdcl" nbody -i "$temporary/bodies.tab" -G $G --ensemble "$systems" --json -q "$@" \
        > "$temporary/ensemble.json"
}

# check_ensemble N DT: both programs move the first system to the same places.
check_ensemble() {
    "$stdcl" nbody -i "$temporary/bodies.tab" -G $G --ensemble 8 --systems 1 --integrator whfast --dt "$2" \
        --steps 1000 -q -o "$temporary/own.tab"
    "$temporary/peer" whfast17 $G "$2" 1000 < "$temporary/bodies.tab" | sed 1d > "$temporary/peer.tab"
    off=$(largest_difference)
    awk -v off="$off" 'BEGIN { exit !(off < 1e-9) }' || {
        echo "rebound.sh: ensemble of $1 bodies: the places differ by $off au" >&2
        exit 1
    }
}

# race_cores DT: all processes at once. Sets peer_rate, system steps per second, and peer_error.
race_cores() {
    running='' k=0
    while [ $k -lt "$processes" ]; do
        "$temporary/peer" whfast17 $G "$1" 1000 "$seconds" < "$temporary/bodies.tab" > "$temporary/core.$k" &
        running="$running $!" k=$((k + 1))
    done
    for process in $running; do wait "$process"; done
    peer_rate=$(cat "$temporary"/core.* | awk '{ sum += 1000 * $1 / $2 } END { printf "%.4g", sum }')
    peer_error=$(cut -d ' ' -f 3 "$temporary"/core.* | sort -g | tail -n 1)
    rm "$temporary"/core.*
}

# ensemble_row INTEGRATOR N DT: an empty integrator is that of ensembles.
ensemble_row() {
    run_ensemble ${1:+--integrator "$1"} --dt "$3" --steps 1000000000 --time-limit "$seconds"
    awk -v integrator="${1:-wisdom-holman}" -v n="$2" -v dt="$3" -v systems="$systems" \
        -v device="$(sed -n 's/^ *"device": "\(.*\)",*$/\1/p' "$temporary/ensemble.json")" \
        -v steps="$(value steps < "$temporary/ensemble.json")" \
        -v own="$(value system_steps_per_s < "$temporary/ensemble.json")" \
        -v error="$(value energy_error_max < "$temporary/ensemble.json")" \
        -v peer="$peer_rate" -v peer_error="$peer_error" -v processes="$processes" 'BEGIN {
        wanted = 1e6 * 1e4 * 365.25 / dt / 3600
        printf "{\"integrator\": \"%s\", \"n\": %d, \"systems\": %d, \"dt\": %g, \"device\": \"%s\", \"steps\": %d, \"system_steps_per_s\": %.4g, \"energy_error_max\": %.2g, \"hours\": %.3g",
            integrator, n, systems, dt, device, steps, own, error, wanted / own
        if (peer != "")
            printf ", \"rebound_processes\": %d, \"rebound_system_steps_per_s\": %.4g, \"rebound_energy_error_max\": %.2g, \"rebound_hours\": %.3g, \"ratio\": %.3g",
                processes, peer, peer_error, wanted / peer, own / peer
        print "}"
        exit !(steps > 0 && error < 1e-4 && (peer == "" || peer_error < 1e-4))
    }' || { echo "rebound.sh: ensemble of $2 bodies by ${1:-wisdom-holman}: wrong" >&2; exit 1; }
}

# race_ensemble N DT: bodies.tab in both programs
race_ensemble() {
    peer_rate='' peer_error=''
    if [ -x "$temporary/peer" ]; then
        check_ensemble "$1" "$2"
        race_cores "$2"
    fi
    ensemble_row '' "$1" "$2"
    ensemble_row whfast "$1" "$2"
}

if [ "$long" = ensemble ]; then
    seconds=${3:-20} systems=${4:-1000000} processes=${PROCESSES:-$(nproc)}
    if find_rebound; then build_peer; else echo "rebound.sh: only stdcl is measured" >&2; fi
    make_bodies 3 > "$temporary/bodies.tab"
    race_ensemble 3 18
    make_solar_system > "$temporary/bodies.tab"
    race_ensemble 9 4
    exit 0
fi

find_rebound || exit
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
