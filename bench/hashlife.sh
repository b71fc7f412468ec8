#!/bin/sh
# hashlife.sh - HashLife beside Golly's on Golly's own patterns; writes one JSON object.
#
#   bench/hashlife.sh BUILD_FOLDER PATTERNS [GENERATIONS] > bench/studies/NAME.json
#
# PATTERNS is a folder of macrocell files, such as /usr/share/golly/Patterns/HashLife, whose .gz files are unpacked first. Each program
# takes each pattern four times, and the first time is not counted: on a virtual machine memory that the host must give first can take as long
# as what is computed in it, and which program meets it depends on what ran before. Times are of the processor's work of the whole process,
# files and start included, the median of three; with two threads they are of the clock. Populations must agree. Idle cores are needed.
# SPDX-License-Identifier: MIT
set -eu
stdcl=$1/bin/stdcl
patterns=$2
generations=${3:-1048576}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for file in "$patterns"/*.mc "$patterns"/*.mc.gz; do
    [ -e "$file" ] || continue
    case $file in
    *.gz) zcat "$file" > "$folder/$(basename "$file" .gz)" ;;
    *) cp "$file" "$folder" ;;
    esac
done

# timed FORMAT COMMAND...: seconds, with what it says in $folder/out
timed() {
    format=$1
    shift
    /usr/bin/time -o "$folder/time" -f "$format" timeout 300 "$@" > "$folder/out" 2>&1 || true
    awk '/^[0-9. ]+$/ { for (i = 1; i <= NF; i++) sum += $i; n++ } END { print n ? sum : "null" }' "$folder/time"
}
# taken FORMAT FILE COMMAND...: the seconds of three times, after one that is not counted
taken() {
    format=$1 into=$2
    shift 2
    timed "$format" "$@" > /dev/null
    for _ in 1 2 3; do
        timed "$format" "$@"
    done > "$into"
}
median() { sort -n | awk '{ x[NR] = $1 } END { print x[int((NR + 1) / 2)] }'; }

printf '{\n "what": "HashLife, %s generations, seconds",\n "date": "%s",\n "commit": "%s",\n "cpu": "%s",\n "peer": "%s",\n "rows": [' \
    "$generations" "$(date -u +%Y-%m-%d)" "$(git describe --always --dirty 2>/dev/null || echo unknown)" \
    "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)" "$(bgolly 2>&1 | sed -n 's/^This is \(bgolly [0-9.]*\).*/\1/p')"
comma=
for file in "$folder"/*.mc; do
    taken "%U %S" "$folder/peer" bgolly -a HashLife -M 4000 -m "$generations" -i "$generations" "$file"
    golly=$(sed -n 's/^[0-9,]*: \([0-9,]*\)$/\1/p' "$folder/out" | tail -n 1 | tr -d ,)
    set -- "$stdcl" life -p "$file" --engine hashlife --memory 4G -n "$generations" --json
    taken "%U %S" "$folder/ours" "$@" --threads 1
    stdcl_says=$(sed -n 's/^ *"population": "\{0,1\}\([0-9]*\).*/\1/p' "$folder/out")
    taken "%e" "$folder/two" "$@" --threads 2
    printf '%s\n  {"pattern": "%s", "population": "%s", "same": %s, "stdcl_s": %s, "golly_s": %s, "stdcl_two_threads_s": %s}' "$comma" \
        "$(basename "$file")" "$stdcl_says" "$([ -n "$golly" ] && [ "$golly" = "$stdcl_says" ] && echo true || echo false)" \
        "$(median < "$folder/ours")" "$(median < "$folder/peer")" "$(median < "$folder/two")"
    comma=,
done
printf '\n ]\n}\n'
