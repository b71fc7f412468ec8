#!/bin/sh
# sparse.sh - unbounded planes by the engines sparse, hashlife and auto, and by Golly's QuickLife
# and HashLife, alternately; writes one JSON object.
#
#   bench/sparse.sh BUILD_FOLDER PATTERNS > bench/studies/NAME.json
#
# PATTERNS is a folder such as /usr/share/golly/Patterns/Life; this script adds random cells to its
# patterns. Each program runs each pattern three times, alternately. Seconds are CPU time of the
# whole process, with files and start, the median of three. sparse_start_s is a run of no
# generations: mostly the start of OpenCL. *_steps_s are elapsed seconds of the generations alone.
# HashLife has one thread. Populations must agree.
# SPDX-License-Identifier: MIT
set -eu
stdcl=$1/bin/stdcl
patterns=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# soup SIDE SHARE: random cells in a square, as RLE
soup() {
    awk -v n="$1" -v share="$2" 'BEGIN {
        srand(5)
        printf "x = %d, y = %d\n", n, n
        for (y = 0; y < n; y++) {
            row = ""
            for (x = 0; x < n; x++)
                row = row (rand() < share ? "o" : "b")
            print row (y < n - 1 ? "$" : "!")
        }
    }'
}
soup 45 0.5 > "$folder/soup-45.rle"
soup 400 0.4 > "$folder/soup-400.rle"

list() {
    for name in acorn.lif rabbits.lif lidka-predecessor.rle iwona.rle blom.rle justyna.rle natural-LWSS.rle ark1.rle; do
        echo "30000 $patterns/Methuselahs/$name"
    done
    echo "100000 $folder/soup-45.rle"
    echo "30000 $folder/soup-400.rle"
    for name in 2c5-spaceship-gun-p690.rle 7-in-a-row-Cordership-V-gun.rle golly-ticker.rle p690-PT-Cordership-gun.rle gun-p165mwss.rle; do
        echo "10000 $patterns/Guns/$name"
    done
    for name in slow-salvo-MWSS-oscillator.rle.gz syntheses-of-c2-spaceships.rle.gz make-osc-p5-plus.rle; do
        echo "10000 $patterns/Syntheses/$name"
    done
    for name in c4-diag-switch-engines.rle switch-engine-breeder-MR.rle slide-breeder.rle rake-breeder.rle breeder.lif; do
        echo "10000 $patterns/Breeders/$name"
    done
}

# timed NAME COMMAND...: append the seconds to the file of that name, with the output in $folder/out
timed() {
    name=$1
    shift
    /usr/bin/time -o "$folder/time" -f "%U %S" timeout 300 "$@" > "$folder/out" 2>&1 || true
    awk '/^[0-9. ]+$/ { for (i = 1; i <= NF; i++) sum += $i; n++ } END { print n ? sum : "null" }' "$folder/time" >> "$folder/$name"
}
ours() { # ours ENGINE WORD...
    engine=$1
    shift
    timed "$engine" "$stdcl" life -p "$file" --engine "$engine" -n "$generations" --json "$@"
    sed -n 's/^ *"seconds": \([0-9.e-]*\).*/\1/p' "$folder/out" >> "$folder/$engine.steps"
    sed -n 's/^ *"population": "\{0,1\}\([0-9]*\).*/\1/p' "$folder/out" >> "$folder/populations"
}
peer() { # peer ALGORITHM
    timed "$1" bgolly -a "$1" -m "$generations" -i "$generations" "$file"
    sed -n 's/^[0-9,]*: \([0-9,]*\)$/\1/p' "$folder/out" | tail -n 1 | tr -d , >> "$folder/populations"
}
median() { sort -n "$folder/$1" | awk '{ x[NR] = $1 } END { printf "%.4g", x[int((NR + 1) / 2)] }'; }

printf '{\n "what": "planes without edges, seconds",\n "date": "%s",\n "commit": "%s",\n "cpu": "%s",\n "peer": "%s",\n "rows": [' \
    "$(date -u +%Y-%m-%d)" "$(git describe --always --dirty 2>/dev/null || echo unknown)" \
    "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)" "$(bgolly 2>&1 | sed -n 's/^This is \(bgolly [0-9.]*\).*/\1/p')"
comma=
list > "$folder/list"
while read -r generations file; do
    rm -f "$folder"/sparse* "$folder"/hashlife* "$folder"/auto* "$folder/start" "$folder/QuickLife" "$folder/HashLife" "$folder/populations"
    for _ in 1 2 3; do
        timed start "$stdcl" life -p "$file" --engine sparse -n 0 --json
        ours sparse
        peer QuickLife
        ours hashlife --threads 1
        peer HashLife
        ours auto
    done
    printf '%s\n  {"pattern": "%s", "generations": %s, "population": %s, "same": %s, "sparse_s": %s, "sparse_start_s": %s, "golly_quicklife_s": %s, "hashlife_s": %s, "golly_hashlife_s": %s, "auto_s": %s, "sparse_steps_s": %s, "hashlife_steps_s": %s, "auto_steps_s": %s}' \
        "$comma" "$(basename "$file")" "$generations" "$(tail -n 1 "$folder/populations")" \
        "$([ "$(sort -u "$folder/populations" | wc -l)" = 1 ] && echo true || echo false)" \
        "$(median sparse)" "$(median start)" "$(median QuickLife)" "$(median hashlife)" "$(median HashLife)" "$(median auto)" "$(median sparse.steps)" "$(median hashlife.steps)" \
        "$(median auto.steps)"
    comma=,
done < "$folder/list"
printf '\n ]\n}\n'
