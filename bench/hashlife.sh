#!/bin/bash
# hashlife.sh - HashLife against Golly's on Golly's own patterns; writes one JSON object.
#
#   bench/hashlife.sh BUILD_FOLDER PATTERNS [GENERATIONS] > bench/studies/NAME.json
#   bench/hashlife.sh BUILD_FOLDER --states GOLLY > bench/studies/NAME.json
#
# PATTERNS is a folder of macrocell files, such as /usr/share/golly/Patterns/HashLife, whose .gz
# files must be unpacked first. --states runs five patterns of rules with more than two states, from
# a folder such as /usr/share/golly. Both programs run each pattern three times, alternately, each
# time after an untimed run: on a virtual machine, memory that the host must provide first can take
# as long as the computation. Times are CPU seconds of the whole process, with files and start, the
# median of three; with two threads they are elapsed seconds. Populations must agree. Run on idle
# cores.
# SPDX-License-Identifier: MIT
set -eu
stdcl=$1/bin/stdcl
patterns=$2
generations=${3:-1048576}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# list: for each pattern its name, its file, the generations, and bgolly's options
list() {
    if [ "$patterns" = --states ]; then
        while read -r name generations by; do
            echo "$name $golly/Patterns/$name $generations -a $by -s $golly/Rules/"
        done << 'END'
WireWorld/primes.mc 30000 RuleLoader
Self-Rep/Devore/Devore-rep.rle 30000 RuleLoader
Turmites/Perfectionist.rle 30000 RuleLoader
Loops/Langtons-Loops.rle 2000 RuleLoader
Generations/Sawfish.rle 3000 Generations
END
        return
    fi
    for file in "$patterns"/*.mc "$patterns"/*.mc.gz; do
        [ -e "$file" ] || continue
        name=$(basename "$file" .gz)
        case $file in
        *.gz) zcat "$file" > "$folder/$name" ;;
        *) cp "$file" "$folder" ;;
        esac
        echo "$name $folder/$name $generations -a HashLife"
    done
}

# timed FORMAT COMMAND...: print the seconds, with the output in $folder/out
timed() {
    TIMEFORMAT=$1
    shift
    { time timeout 300 "$@" > "$folder/out" 2>&1 || true; } 2> "$folder/time"
    awk '{ for (i = 1; i <= NF; i++) sum += $i } END { print sum }' "$folder/time"
}
median() { sort -n | awk '{ x[NR] = $1 } END { print x[int((NR + 1) / 2)] }'; }

what="$generations generations"
if [ "$patterns" = --states ]; then
    golly=${3%/}
    what="rules of more than two states"
fi
printf '{\n "what": "HashLife, %s, seconds",\n "date": "%s",\n "commit": "%s",\n "cpu": "%s",\n "peer": "%s",\n "rows": [' \
    "$what" "$(date -u +%Y-%m-%d)" "$(git describe --always --dirty 2>/dev/null || echo unknown)" \
    "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)" "$(bgolly 2>&1 | sed -n 's/^This is \(bgolly [0-9.]*\).*/\1/p')"
comma=
list > "$folder/list"
while read -r name file generations by; do
    set -- "$stdcl" life -p "$file" --engine hashlife --memory 4G -n "$generations" --json
    rm -f "$folder/peer" "$folder/ours" "$folder/two"
    for _ in 1 2 3; do
        for into in /dev/null "$folder/peer"; do
            # shellcheck disable=SC2086 # words
            timed "%3U %3S" bgolly $by -M 4000 -m "$generations" -i "$generations" "$file" >> "$into"
        done
        population=$(sed -n 's/^[0-9,]*: \([0-9,]*\)$/\1/p' "$folder/out" | tail -n 1 | tr -d ,)
        for into in /dev/null "$folder/ours"; do
            timed "%3U %3S" "$@" --threads 1 >> "$into"
        done
        stdcl_says=$(sed -n 's/^ *"population": "\{0,1\}\([0-9]*\).*/\1/p' "$folder/out")
        timed "%3R" "$@" --threads 2 >> "$folder/two"
    done
    printf '%s\n  {"pattern": "%s", "generations": %s, "population": "%s", "same": %s, "stdcl_s": %s, "golly_s": %s, "stdcl_two_threads_s": %s}' "$comma" \
        "$name" "$generations" "$stdcl_says" "$([ -n "$population" ] && [ "$population" = "$stdcl_says" ] && echo true || echo false)" \
        "$(median < "$folder/ours")" "$(median < "$folder/peer")" "$(median < "$folder/two")"
    comma=,
done < "$folder/list"
printf '\n ]\n}\n'
