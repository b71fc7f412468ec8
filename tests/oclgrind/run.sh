#!/bin/bash
# run.sh - the kernels under Oclgrind, which reports races between work-items, accesses outside of a buffer, and values
# that nobody has written.
#
#   run.sh OCLGRIND BUILD sample      a few kernels, in seconds: a test
#   run.sh OCLGRIND BUILD all         every kernel, and every row of tuning/: `make test-oclgrind`, 50 minutes of one processor
#   run.sh OCLGRIND BUILD kernels|rows|trees|examples      a part of that
#
# STDCL_OCLGRIND_MISSING=1 leaves out what table.tsv has already, without a finding.
# STDCL_OCLGRIND_WORKERS processes run cases at once (default: number of processors);
# STDCL_OCLGRIND_SECONDS after the start no case begins, and those that run are ended, as if they had not run.
#
# table.tsv keeps each case with its CPU seconds and its findings, except for the sample.
#
# Every case is a run of the command, or of oclgrind_arrays or oclgrind_batch, on small odd sizes; the cells of Life, products and sums of
# arrays are checked, too. Oclgrind always exits with status 0, so its log decides: a byte in it
# is a failure. It runs as
#   cpu   itself: memory is shared with the host, and the host's writes are invisible; races and bounds are checked
#   gpu   through gpu.c, with copies in place of shared memory; uninitialised values are checked too, except for trees and Larger than
#         Life: the check of Oclgrind 21.10 crashes when two vectors become a longer one
# With `all`, a kernel of ours that no case has run is a failure, but for those that are named at the end.
#
# Kernels are not optimised: Oclgrind has neither LLVM's `freeze` nor its funnel shifts, which optimisation makes, and takes the
# poison that a vector begins with for a value. Nor has it scopes of `restrict`, which inlining makes: the word is taken away. Its
# device has 32 KiB of local memory; walks of GPUs and large groups need more.
# SPDX-License-Identifier: MIT
set -u
oclgrind=$1 build=$(cd "$2" && pwd) what=$3
source=$(cd "$(dirname "$0")/../.." && pwd)
stdcl=$build/bin/stdcl arrays=$build/tests/oclgrind_arrays gpu=$build/tests/liboclgrind_gpu.so
names=$build/tests/liboclgrind_kernels.so # tells the kernels that ran
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failures=0 row=
limit=1200 # seconds of the processor that a case may take
end=${STDCL_OCLGRIND_SECONDS:+$(($(date +%s) + STDCL_OCLGRIND_SECONDS))}
workers=${STDCL_OCLGRIND_WORKERS:-$(getconf _NPROCESSORS_ONLN)}
[ "$what" != sample ] || workers=1
TIMEFORMAT=%U

# ---- One case.

fail() { # fail WHY: print the reason and the output of the case
    failures=$((failures + 1))
    echo "FAILED: $1: $description"
    head -30 log err
}

# Whether the case is this worker's: no other has begun it, it is wanted, and there is time.
begins() { # begins DESCRIPTION
    [ -z "${STDCL_OCLGRIND_MISSING-}" ] || ! awk -F'\t' '!$3 { print $1 ": " $4 }' "$source/tests/oclgrind/table.tsv" | sed 's/ *$//' | grep -qxF -- "$1" || return 1
    { [ -z "$end" ] || [ "$(date +%s)" -lt "$end" ]; } && mkdir "$folder/begun/$(printf '%s' "$1" | md5sum | cut -c1-32)" 2>/dev/null
}

# on cpu|gpu COMMAND...: runs it, if it is this worker's; its standard output is in `out`, its standard error in `err`.
on() {
    local as=$1 flags=(--data-races --compute-units 4 --local-mem-size 131072 --build-options "-cl-opt-disable -Drestrict=")
    shift
    [ "$as" = gpu ] && [ -z "${unseen-}" ] && flags+=(--uninitialized)
    local named=("${@#"$build"/*/}") # without our folders
    description="$as: ${named[*]#"$source"/*/}${row:+ [$row]}"
    begins "$description" || return 1
    rm -f log
    local before=$names
    [ "$as" = cpu ] || before=$gpu:$names
    [ -z "${processor-}" ] || set -- taskset -c "$(sed -n 's/^Cpus_allowed_list:[^0-9]*\([0-9]*\).*/\1/p' /proc/self/status)" "$@"
    set -- sh -c "LD_PRELOAD=$before:\$LD_PRELOAD exec \"\$@\"" sh "$@"
    local status
    { time ${end:+timeout $((end - $(date +%s) + 1))} sh -c "ulimit -t $limit; exec \"\$@\"" sh "$oclgrind" "${flags[@]}" --log log "$@" \
        >out 2>err; } 2>took
    status=$?
    if [ -n "$end" ] && [ "$status" != 0 ] && [ "$(date +%s)" -ge "$end" ]; then
        echo "no time: $description"
        return 1
    fi
    [ "$what" = sample ] || printf '%8s s  %s\n' "$(tail -n 1 took)" "$description"
    if [ "$status" -ge 128 ]; then
        fail "ended by signal $((status - 128)) after $(tail -n 1 took) s of the processor, of $limit"
    elif [ "$status" != 0 ]; then
        fail "status $status"
    fi
    [ ! -s log ] || fail "Oclgrind reports"
    printf '%s\t%s\t%s\t%s\n' "$as" "$(tail -n 1 took)" "$([ -s log ] || [ "$status" != 0 ]; echo $((1 - $?)))" "${description#*: }" >>table
    [ "$status" = 0 ]
}

# ---- The programs.

arrays() { # arrays cpu|gpu SHAPE N...: answers are compared with plain C
    local as=$1
    shift
    on "$as" "$arrays" "$@"
}

sort_shape() { # sort_shape cpu|gpu SHAPE
    on "$1" "$build/tests/test_sort" shape "$2"
}

# The kernels that files declare.
kernels_of() {
    cat "$@" | tr '\n' ' ' | grep -oE '\b(__)?kernel( [A-Z_]+| __attribute__\(\([a-z_]*\([^)]*\)\)\))? +void +[a-z_0-9]+' | sed 's/.* //'
}

nbody() { # nbody cpu|gpu N WORD...: one step
    local as=$1 n=$2
    shift 2
    on "$as" "$stdcl" nbody -q -n "$n" --steps 1 -o bodies.tab "$@"
}

tree() { # tree cpu|gpu N WORD...: one step; forces are compared with direct sums. A small shape of sorts is fast here.
    local as=$1 n=$2 unseen=yes
    shift 2
    use_row arrays.sort.64 "group=64 items=3 groups_per_unit=2"
    on "$as" "$stdcl" nbody -q --method tree --accuracy 0.001 --check-forces "$n" -n "$n" --steps 1 --csv energies.csv -o bodies.tab "$@"
    no_row
}

life() { # life cpu|gpu SIZE SHAPE [WORD...]: five generations, on a torus and on a plane, as in plain C
    local as=$1 size=$2 shape=$3 bounds
    shift 3
    for bounds in torus plane; do
        on "$as" "$stdcl" life -q --engine packed --size "$size" --bounds $bounds -n 5 ${shape:+--shape "$shape"} "$@" -o cells.rle || continue
        "$stdcl" life -q --size "$size" --bounds $bounds -n 5 "$@" --engine reference -o right.rle
        cmp -s cells.rle right.rle || fail "wrong cells"
    done
}

# The command checks its answer. Rows of matrices are padded; there, and wherever the engine's memory is not written, is NaN,
# which would show in results.
matmul() { # matmul cpu|gpu M,N,K WORD...
    local as=$1 m n k
    IFS=, read -r m n k <<<"$2"
    shift 2
    STDCL_DEBUG=1 on "$as" "$stdcl" matmul -q --repeat 1 -m "$m" -n "$n" -k "$k" --alpha 0.5 --beta 2 "$@"
}

# Batches of products: three in one launch.
batch() { # batch cpu|gpu M N K WORD
    local as=$1 precision=$5
    on "$as" "$build/tests/oclgrind_batch" "$precision" "$2" "$3" "$4" 3
}

# ---- A row of the tuning store, as if it had been measured on this device.

use_row() { # use_row KERNEL SHAPE; sorts of another kernel take a small shape, which is fast here
    local rows='{"kernel": "%s", "device": "Oclgrind Simulator", "size": 0, "shape": "%s"}'
    mkdir -p stdcl
    row="$1 $2"
    case $1 in
    arrays.*) set -- "$1" "$2" ;;
    *) set -- "$1" "$2" arrays.sort.64 "group=64 items=3 groups_per_unit=2" && rows="$rows, $rows" ;;
    esac
    # shellcheck disable=SC2059 # the format is ours
    printf "{\"format\": \"stdcl-tuning-1\", \"rows\": [$rows]}\n" "$@" >stdcl/tune.json
}

no_row() {
    row=
    rm -f stdcl/tune.json
}

# rows: every row that is shipped, as "KERNEL|FAMILY OR DEVICE|SHAPE"; rows of the same shape once.
rows() {
    tr -d '\n' <"$1" | sed 's/}, *{/}\n{/g' |
        sed -n 's/.*"kernel": "\([^"]*\)", "device": "\([^"]*\)".*"shape": "\([^"]*\)".*/\1|\2|\3/p' |
        awk -F'|' '!had[$1 ~ /^arrays/ ? $3 : $1 $3]++' # all sums of arrays are tried with each shape of one of them
}

# kinds DEVICE: a CPU row runs on a CPU, and on a GPU to find uninitialised values; a GPU row runs on a GPU.
kinds() {
    case $1 in family:cpu*) echo cpu gpu ;; *) echo gpu ;; esac
}

every_row() {
    local file kernel device shape as
    for file in "$source"/tuning/*.json; do
        while IFS='|' read -r kernel device shape; do
            use_row "$kernel" "$shape"
            for as in $(kinds "$device"); do
                run_row "$kernel" "$shape" "$as"
            done
        done < <(rows "$file")
    done
    no_row
}

run_row() { # run_row KERNEL SHAPE cpu|gpu
    local precision=${1##*.} n
    case $1 in
    nbody.direct.* | nbody.equal.* | nbody.many.*) nbody "$3" 65 --precision "$precision" ;;
    nbody.walk.*) unseen=yes nbody "$3" 65 --precision "$precision" --method tree ;;
    nbody.cells.*) unseen=yes nbody "$3" 65 --precision "$precision" --method tree --accuracy 5e-5 ;;
    nbody.hermite.*) nbody "$3" 65 --precision "$precision" --integrator hermite4 ;;
    life.*)
        life "$3" 67x9 "tile=$([ "$1" = life.tile ]; echo $((! $?)))" ;;
    matmul.batch.*)
        batch "$3" 33 17 9 "$precision"
        batch "$3" 16 31 1 "$precision" ;;
    matmul.skinny.*)
        # Depths that groups share go by PTX on NVIDIA's cards: without PTX the shared values are a race.
        matmul "$3" 35,3,300 --precision "$precision" --shape "path=3 split_k_min=0"
        matmul "$3" 5,67,301 --precision "$precision" --shape "path=3 split_k_min=0" --trans TT ;;
    matmul.*)
        local path=$([ "${1#matmul.panels}" = "$1" ] && echo 1 || echo 2)
        matmul "$3" 35,67,17 --precision "$precision" --shape "path=$path"
        matmul "$3" 65,17,33 --precision "$precision" --shape "path=$path" --trans TT ;;
    gas.fused) on "$3" "$stdcl" gas -q -n 65 ;;
    gas.draw) on "$3" "$stdcl" gas -q -n 65 --stored --histogram speeds.csv ;;
    arrays.scan.* | arrays.sort.*) sort_shape "$3" "$2" ;;
    arrays.*) arrays "$3" "$2" 65 ;;
    *) failures=$((failures + 1)); echo "FAILED: $1: a row of no engine that this script knows" ;;
    esac
}

# ---- Cases.

sample() {
    matmul cpu 33,17,9
    on gpu "$stdcl" gas -q -n 65
    if [ -n "${STDCL_TEST_DEEP:-}" ]; then
        life cpu 200x9 "tile=0 lanes=2 span=3 generations=2 block=3 bands=3"
        life gpu 70x9 "tile=1 words=1 rows=3 warps=2 generations=2"
    fi
}

every_kernel() {
    local as n words
    for as in cpu gpu; do
        for n in 1 2 63; do nbody $as $n --precision single; done
        nbody $as 131 # up to 128 bodies run on the host
        for words in taylor hermite4 hermite6; do nbody $as 131 --integrator $words; done
        for n in 3 33; do nbody $as $n --stepping block; done
        for words in naive branchless tiled; do
            on $as "$stdcl" nbody -q -n 65 --steps 1 --kernel $words -o bodies.tab
            on $as "$stdcl" nbody -q -n 65 --steps 1 --kernel $words --precision double -o bodies.tab
        done
        nbody $as 131 --csv energies.csv --forces forces.csv
        nbody $as 131 --stepping adaptive --dt 1e-6
        nbody $as 131 --stepping adaptive --dt 1e-6 --integrator leapfrog
        for words in single mixed double; do nbody $as 131 --precision $words; done
        use_row arrays.sort.64 "group=64 items=3 groups_per_unit=2"
        # The second time Oclgrind takes keys for unwritten, the same ones even where a kernel writes i * 1234567 to each key i.
        unseen=yes nbody $as 131 --structure cluster.json
        no_row
        on $as "$stdcl" nbody -q -n 131 --steps 1 --external plummer:1,1 --csv energies.csv
        on $as "$stdcl" nbody -q -n 131 --steps 1 --external nfw:M=1,a=1 --external oblate:J2=1e-3,R=1e-3 --external "$source/tests/oclgrind/drag.cl:gamma=1" --csv energies.csv
        on $as "$stdcl" nbody -q -i "$source/data/solar.tab" --steps 1 --dt 1 --ensemble 5 -o systems.tab
        on $as "$stdcl" nbody -q -i "$source/data/solar.tab" --steps 1 --dt 1 --ensemble 3 --integrator ias15 -o systems.tab
        on $as "$stdcl" nbody -q -i "$source/data/solar.tab" --steps 1 --dt 1 --ensemble 3 --collide merge --radius 0.01 -o systems.tab
        on $as "$stdcl" nbody -q -i "$source/data/solar.tab" --steps 1 --dt 1 --ensemble 3 --integrator ias15 --collide stop --radius 1e-5 --stop-distance 100 -o systems.tab
        on $as "$stdcl" nbody -q -i "$source/data/solar.tab" --steps 1 --dt 1 --ensemble 3 --integrator whfast --megno -o systems.tab
        on $as "$stdcl" nbody -q -i "$source/data/solar.tab" --steps 1 --dt 1 --ensemble 3 --integrator whfast --coordinates heliocentric --safe-mode -o systems.tab
        nbody $as 131 --record bodies.view
        tree $as 67
        for n in 1x1 63x65 130x5; do
            life $as $n "" --engine local
            life $as $n "" --engine global
            life $as $n "" --csv population.csv
        done
        life $as 200x9 "tile=0 lanes=2 span=3 generations=2 block=3 bands=3"
        life $as 70x9 "tile=0 lanes=4 generations=3 block=4" --rule B36/S125
        [ $as = cpu ] || OCLGRIND_GPU=2 life $as 131x129 "" --device all
        life $as 35x17 "" --rule "$source/tests/faults/brain.rule"
        for words in R2,C0,M1,S3..8,B5..7,NM R3,C4,M0,S3..8,B5..7,NN; do
            unseen=yes life $as 37x19 "" --rule $words --csv population.csv
        done
        unseen=yes on $as "$stdcl" life -q --rule R130,C0,M1,S9000..17000,B11000..14000,NM --size 261x263 -n 1 -o cells.rle
        life $as 1x9 "tile=1 words=2 rows=2 warps=2 generations=1"
        on $as "$stdcl" life -q --size 65x63 --until-stable -n 20 -o cells.rle
        on $as "$stdcl" life -q --size 131x67 -n 5 --record cells.view
        on $as "$build/tests/oclgrind_look"
        for rule in 345/2/4 013/2/9V; do
            on $as "$stdcl" life -q --rule $rule --size 70x9 -n 5 --csv population.csv -o cells.rle
        done
        for grid in K35*+1,20 S9; do
            on $as "$stdcl" life -q --rule "B3/S23:$grid" -n 5 --engine global -o cells.rle
            on $as "$stdcl" life -q --rule "B3/S23:$grid" -n 5 --shape "tile=0 lanes=2 span=3 generations=2 block=3 bands=3" -o cells.rle
        done
        on $as "$stdcl" life -q -p "$source/data/gun.rle" --rule B3/S23 --engine sparse -n 29 --step 10 --csv population.csv -o cells.rle
        on $as "$stdcl" life -q -p "$source/data/gun.rle" --rule B2-a/S12 --engine sparse -n 8 -o cells.rle
        on $as "$stdcl" life census -q --soups 2 --size 5 -n 600 --csv objects.csv
        for words in naive "blocked --block 8"; do
            # shellcheck disable=SC2086
            matmul $as 65,63,67 --engine $words
            # shellcheck disable=SC2086
            matmul $as 2,129,1 --precision double --trans TT --engine $words
        done
        for words in NT TN; do matmul $as 63,65,2 --trans $words; done
        for words in single double; do on "$as" "$build/tests/oclgrind_batch" $words 33 35 17 1 "path=1 bm=32 bn=32 bk=8 wm=32 wn=16 stages=2 pack=1"; done
        [ $as = cpu ] || matmul $as 33,5,17 --alpha 0 # on a device that shares memory the host scales C
        for words in single double; do batch $as 13 9 7 $words; done
        [ $as = gpu ] || matmul $as 131,65,67 --memory 60000
        [ $as = cpu ] || matmul $as 67,33,35 --memory 45000 # of two slabs, since 64 take ten minutes
        # Five parts of a tile, which a kernel of its own adds up.
        [ $as = cpu ] || matmul $as 35,33,160 --precision double --shape "path=1 bm=64 bn=64 bk=8 wm=32 wn=32 stages=2 pack=0 groups_per_unit=64 split_k_min=32"
        for n in 1 2 63 65 32771; do on $as "$stdcl" gas -q -n $n; done
        on $as "$stdcl" gas -q -n 32771 --stored --precision double --accumulate compensated
        on $as "$stdcl" gas -q -n 131 --stored --sum tree
        on $as "$stdcl" gas -q -n 131 --stored --source host --histogram speeds.csv
        arrays $as "" 1 2 63 65 129
        for words in "group=64 items=3 groups_per_unit=2" "group=1 items=50 groups_per_unit=2 stream=1"; do
            sort_shape $as "$words"
        done
    done
}

trees() { # slow walks on a GPU, and all long cases, so that they begin early
    local n
    nbody cpu 1100 --stepping block
    for n in 1 2 131; do tree cpu $n; done
    tree cpu 65 --precision double
    use_row arrays.sort.64 "group=64 items=3 groups_per_unit=2"
    nbody cpu 65 --method tree --stepping block
    no_row
}

examples() { # the programs that teach, and their templates
    local example
    ln -sf "$source"/examples/*.clt .
    for example in "$build"/examples/example_*; do
        case $example in */example_05_profile) continue ;; esac # a hundred launches of many items: more than ten minutes
        [ -x "$example" ] && [ -f "$example" ] && on gpu "$example"
    done
}

# Of two devices. On one processor one thread starts the kernels of both: Oclgrind 21.10 must not be called by two at once.
trees_in_parts() {
    local n
    for n in 2 131 300; do
        OCLGRIND_GPU=2 processor=1 tree gpu $n --device all
    done
    # In the shape of CPUs a domain sums for bodies of a second domain.
    use_row nbody.walk.single "group=1 width=8 items=4 tile=16 local=0 unroll=1 block=256 rsqrt=2 groups_per_unit=4 group_1d=64 leaf=32 defer_factor=30 second_group=1 tree_min=7000"
    OCLGRIND_GPU=2 processor=1 unseen=yes nbody gpu 300 --method tree --check-forces 300 --device all
    no_row
}

# Kernels that Oclgrind cannot run, each with the reason.
cannot() {
    # Work-groups of one launch that wait for each other need atomics of OpenCL C 3.0, which Oclgrind's compiler does not have, and groups at
    # work at once: Oclgrind ends one before it begins the next.
    echo life_rows_passes life_persistent forces_steps | tr ' ' '\n'
    echo matmul_mma # the matrix units of NVIDIA's cards, by PTX; also its EDGE=1, of thin products
    echo life_columns life_count_block | tr ' ' '\n' # blocks of a grid are of several ranks, threads that Oclgrind 21.10 must not be called by at once
    echo loosen part_with | tr ' ' '\n' # of systems that are too large for it: with less than 10,000 bodies no group of another part meets too much
}

kernels_left_out() {
    kernels_of "$source"/{arrays,nbody,life,matmul,gas}/*.cl "$source"/arrays/tree.clt | sort -u >ours
    cannot >>kernels
    sort -u kernels | comm -23 ours - | while read -r kernel; do echo "FAILED: no case has run $kernel"; done
}

# True if all cases are run, so that table entries that did not run now are obsolete.
whole() { [ "$what" = all ] && [ -z "$end" ] && [ -z "${STDCL_OCLGRIND_MISSING-}" ]; }

# table.tsv: the cases as they were, without those that ran now, and these; by their names.
keep_table() {
    local kept=$source/tests/oclgrind/table.tsv
    whole || [ ! -f "$kept" ] || grep -v '^as' "$kept" | sed 's/ *\t/\t/4' | awk -F'\t' 'FILENAME == "table" { ran[$1 $4]; next }
        !($1 $4 in ran) { last[$1 $4] = $0 } END { for (each in last) print last[each] }' table - >others
    { printf 'as\tseconds\tfindings\tcase\tcommit\n'
        { sed "s/\$/\t${COMMIT:-$(git -C "$source" describe --always --dirty 2>/dev/null)}/" table; cat others 2>/dev/null; } | sort -t "$(printf '\t')" -k 4,4 -k 1,1; } >table.new
    cp table.new "$kept"
}

every_case() {
    case $what in
    kernels) every_kernel ;;
    rows) every_row ;;
    trees) trees; trees_in_parts ;;
    examples) examples ;;
    sample) sample ;;
    all) trees; trees_in_parts; examples; every_kernel; every_row ;;
    esac
}

# A process of its own, with a folder of its own, that goes through all cases and runs those that no other has begun.
work() { # work NUMBER
    mkdir "$folder/$1" && cd "$folder/$1" || exit 1
    export XDG_CACHE_HOME=$folder/$1 OCLGRIND_KERNELS=$folder/$1/kernels
    : >kernels
    : >table
    no_row
    every_case
    echo "$failures" >failures
}

case $what in
kernels | rows | trees | examples | sample | all) ;;
*) echo "run.sh: $what? give sample or all" >&2; exit 2 ;;
esac
mkdir "$folder/begun"
for worker in $(seq "$workers"); do
    work "$worker" &
done
wait
cd "$folder" || exit 1
cat ./*/kernels >kernels
cat ./*/table >table
failures=$(cat ./*/failures | awk '{ sum += $1 } END { print sum + 0 }')
if whole; then
    left=$(kernels_left_out)
    [ -z "$left" ] || { echo "$left"; failures=$((failures + 1)); }
fi
[ "$what" = sample ] || keep_table
echo "$(wc -l <table) runs under Oclgrind, $failures of them with a finding"
[ "$failures" = 0 ] && [ "$(cat ./*/failures | wc -l)" = "$workers" ]
