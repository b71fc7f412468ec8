#!/bin/sh
# world.sh - jobs of several ranks by MPI: their results, and how they end after errors.
#   usage: world.sh MPI OTHER FOLDER CHILD FROM_MPI STDCL TWO_DEVICES LAYER
# MPI: openmpi or mpich. OTHER: the plugin of a different MPI, or "". FOLDER: where the plugins are. FROM_MPI: world_child built with
# that MPI. LAYER: tests/faults/layer.c, or "". SPDX-License-Identifier: MIT
# shellcheck disable=SC2086 # lists of words
set -u
mpi=$1 other=$2 folder=$3 child=$4 from_mpi=$5 stdcl=$6 two_devices=$7 layer=$8
box=$(mktemp -d) || exit 1
trap 'rm -rf "$box"' EXIT
cd "$box" || exit 1
bad=0

export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_mpi_yield_when_idle=1
export OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_rmaps_base_oversubscribe=1
export PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
five=
case $mpi in
openmpi)
    launch="mpirun.openmpi -q --bind-to none" many=3
    case $(mpirun.openmpi --version) in *" "[5-9].*) five=5 launch="mpirun.openmpi --bind-to none" ;; esac # which has no -q
    ;;
mpich)
    launch=mpiexec.mpich many=2
    # Ubuntu 24.04's MPICH starts processes that cannot connect: a program without our
    # plugin shows that.
    case $(mpiexec.mpich --version) in
    *" 4.2.0"*)
        if [ "$(mpiexec.mpich -n 2 "$from_mpi" work | grep -c '^1 ranks')" = 2 ]; then
            echo "processes of this MPICH 4.2.0 do not find each other"
            exit 77
        fi
        ;;
    esac
    ;;
esac

# job STATUS WORDS RANKS COMMAND...: the job ends with that status ("bad": any but 0), and with one
# line of message that contains WORDS.
job() {
    status=$1 words=$2 ranks=$3
    shift 3
    $launch -n "$ranks" "$@" >out 2>err </dev/null
    got=$?
    case $status in bad) [ "$got" -ne 0 ] && status=$got ;; esac
    if [ "$got" = "$status" ] && { [ -z "$words" ] || [ "$(cat out err | grep -cF -- "$words")" = 1 ]; }; then
        echo "ok      $ranks ranks: ${*##*/}"
    else
        echo "FAILED  $ranks ranks: $*: status $got, not $status with one '$words'"
        cat out err
        bad=1
    fi
}

# sampled [N]: true for every sixth of its calls, or every Nth, other ones with each MPI; with STDCL_TEST_DEEP=1 for all.
turn=0
[ $mpi = openmpi ] || turn=3
sampled() {
    turn=$((turn + 1))
    [ -n "${STDCL_TEST_DEEP:-}" ] || [ $((turn % ${1:-6})) = 0 ]
}

# A GPU driver may refuse contexts if many processes have some: ranks run on a CPU if there is one.
pick=
! "$stdcl" devices --json | grep -q '"type": "CPU"' || pick="--device cpu"

# ---- Messages, and the ends of jobs.
sampled && job 0 "2 ranks, sum 3" 2 "$child" work
sampled && job 0 "4 ranks, sum 10" 4 "$child" work
job 0 "3 ranks, sum 6" 3 "$from_mpi" work
job 4 "world_child: rank 1 on $(uname -n): device 3 is lost" 3 "$child" fails
sampled && job 4 "world_child: there is no such file" 3 "$child" alike
sampled && job 4 "stdcl: rank 1 on $(uname -n): device 3 is lost" 3 "$from_mpi" fails # without on_abort
sampled && job bad "" 2 "$child" killed
sampled && job bad "" 2 "$child" exits
export STDCL_TIMEOUT=5 # long enough for all ranks to start, also on a busy machine
sampled && job 4 "has waited 5 s for rank 1 on $(uname -n); " 3 "$child" hangs
sampled && job bad "rank 0 on $(uname -n) has waited 5 s for rank 1 on $(uname -n) to leave; " 3 "$child" stays
sampled && job bad "rank 1 on $(uname -n) has waited 5 s for rank 0 on $(uname -n) to leave; " 2 "$child" "others stay"
sampled && job bad "rank 0 on $(uname -n) has waited 5 s for MPI to start: " 2 \
    sh -c '[ "${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-}}" = 0 ] || kill -STOP $$; exec "$1" work' - "$child"
export STDCL_TIMEOUT=5s
sampled && job 1 'STDCL_TIMEOUT is "5s"; give a number of seconds above 0' 3 "$stdcl" gas -n 1e5 $pick
unset STDCL_TIMEOUT

sampled && job bad "/dev/stdin is a pipe or a device, which only one rank can read; " 2 "$stdcl" nbody -i /dev/stdin $pick --share
sampled && job bad " bodies on each of 2 ranks of this host need " 2 "$stdcl" nbody -n 2^32 --method tree --eps 0.1 --dt 0.1 $pick --share

# ---- Missing plugins, and plugins of another MPI.
export STDCL_MPI=/nowhere/world-x.so
lost="/nowhere/world-x.so is no plugin that can be opened"
[ -z "$five" ] || lost= # Open MPI 5.0.7 may lose a rank's last output
sampled && job 1 "$lost" 2 "$stdcl" gas -n 1000
unset STDCL_MPI
if [ -n "$other" ]; then
    export STDCL_MPI="$folder/world-$other.so"
    sampled && job 1 "sees 1: it is another MPI's launcher" 2 "$stdcl" gas -n 1000
    unset STDCL_MPI
fi
# srun without --mpi: each rank is a world of its own, and ends no other rank.
apart() { # -n 2 COMMAND...
    shift 2
    SLURM_STEP_NUM_TASKS=2 SLURM_PROCID=1 "$@" &
    SLURM_STEP_NUM_TASKS=2 SLURM_PROCID=0 "$@"
    got=$?
    wait
    return $got
}
export STDCL_MPI="$folder/world-$mpi.so"
by=$launch launch=apart
job 1 "sees 1: it is another MPI's launcher" 2 "$stdcl" gas -n 1000
launch=$by
unset STDCL_MPI by
mkdir -p copy/bin && cp "$stdcl" copy/bin
lost="was installed without world-$mpi.so"
[ -z "$five" ] || lost= # as above
sampled && job 1 "$lost" 2 copy/bin/stdcl gas -n 1000

# compiled PROGRAM OPTIONS...: compile by one process, on two devices, since all ranks would compile
# the same kernels at once.
compiled() {
    program=$1
    shift
    "$two_devices" "$stdcl" "$program" --device all "$@" -q
    case $? in 0 | 77) ;; *) bad=1 ;; esac # 77: there is no PoCL, which makes two
}

# ---- The command: one report, equal bits, one message.
energy() { sed -n 's/.*"mean_energy": \([^,]*\).*/\1/p' "$1"; }
"$stdcl" gas $pick -n 3e6 --histogram one.csv --json >one.json || bad=1
job 0 '"program": "gas"' $many "$stdcl" gas $pick -n 3e6 --share --histogram many.csv --json
[ "$(energy out)" = "$(energy one.json)" ] || { echo "FAILED  $many ranks: another energy, $(energy out)"; bad=1; }
cmp one.csv many.csv || bad=1
sampled && job 0 "" 2 copy/bin/stdcl gas $pick -n 1000 --alone --quiet
"$stdcl" matmul -n 3 -m 80000 -k 3 --engine cpu-blocked -q -o v.npy || bad=1
for what in "-n 200000 --stored" "-i v.npy"; do # velocities in memory, each rank's own
    sampled || continue
    "$stdcl" gas $pick $what --json >one.json || bad=1
    job 0 '"program": "gas"' 2 "$stdcl" gas $pick $what --share --json
    [ "$(energy out)" = "$(energy one.json)" ] || { echo "FAILED  a stored gas: another energy, $(energy out)"; bad=1; }
done
printf '#N Glider\nx = 3, y = 3, rule = B3/S23\nbob$2bo$3o!\n' >glider.rle
run="--generations 200" ranks=2
export STDCL_TEST_REBALANCE=1 # shares change meanwhile, and ranks alternately write small blocks of files
for what in "--soup=0.3 --size 300x1500" "--soup=0.3 --size 1024x200 --shape across=2" "--pattern glider.rle --size 256x256 --bounds plane" "--until-stable --size 64x96"; do
    sampled || continue
    "$stdcl" life $pick $what $run -q -o one.rle -o one.mc -o one.cells -o one.csv || bad=1
    compiled life $what $run
    job 0 "" $ranks "$stdcl" life $pick $what $run -q --share -o many.rle -o many.mc -o many.cells -o many.csv
    cmp one.rle many.rle && cmp one.mc many.mc && cmp one.cells many.cells && cmp one.csv many.csv || bad=1
done
"$stdcl" nbody $pick -n 2 --steps 0 -q -o try.hdf5 2>/dev/null && hdf5=hdf5 || hdf5=std # without libhdf5
for what in "-n 2000 --ic plummer --steps 30 --method direct --checkpoint direct.ckpt" "-n 1500 --method tree --steps 8 --checkpoint tree.ckpt" "--integrator hermite4 -n 300 --until 0.03125 --snapshots 0.015625 -o snap-%02d.npy"; do
    sampled 3 || continue # one of these three always: the next jobs read its files
    "$stdcl" nbody $pick $what -q -o one.npy -o one.tipsy -o one.tab -o one.$hdf5 --csv one.csv --forces force1.csv || bad=1
    [ -f direct.npy ] || [ ! -f direct.ckpt ] || cp one.npy direct.npy
    [ -f tree.npy ] || [ ! -f tree.ckpt ] || cp one.npy tree.npy
    compiled nbody $what
    job 0 "" $many "$stdcl" nbody $pick $what -q --share -o many.npy -o many.tipsy -o many.tab -o many.$hdf5 --csv many.csv --forces force2.csv
    grep -v '^#' one.tab >one.rows # notes name the ranks
    grep -v '^#' many.tab >many.rows
    cmp one.npy many.npy && cmp one.tipsy many.tipsy && cmp one.rows many.rows && cmp one.csv many.csv && cmp force1.csv force2.csv || bad=1
done
# A census has equal counts, errors and first soups with ranks.
"$stdcl" life census $pick --soups 20 --seed 7 -q --csv one.csv || bad=1
job 0 '"program": "life"' 2 "$stdcl" life census $pick --soups 20 --seed 7 --share --json --csv many.csv
[ -s one.csv ] && cmp one.csv many.csv || { echo "FAILED  a census of 2 ranks"; bad=1; }
job 1 "R2,C0,S2-3,B3 (Larger than Life) on a single rank" 2 "$stdcl" life $pick --size 100 --rule R2,C0,S2-3,B3,NM -n 1 --share
# Without an output that needs all bodies, each rank has a slice of them.
for what in "-n 1501 --ic collision --method tree --steps 3 --snapshots 0.05 -o slice-%02d.tab" "-n 700 --method direct --steps 2"; do
    sampled 2 || continue
    "$stdcl" nbody $pick $what -q -o one.npy -o one.tipsy -o one.tab -o one.$hdf5 --csv one.csv || bad=1
    job 0 "" $many "$stdcl" nbody $pick $what -q --share -o many.npy -o many.tipsy -o many.tab -o many.$hdf5 --csv many.csv
    grep -v '^#' one.tab >one.rows
    grep -v '^#' many.tab >many.rows
    cmp one.npy many.npy && cmp one.tipsy many.tipsy && cmp one.rows many.rows && cmp one.csv many.csv || bad=1
    for next in "one.npy --eps 0.05 --dt 0.01" "one.tipsy --eps 0.05 --dt 0.01" one.tab one.$hdf5; do # files are read by slices, too
        sampled 2 || continue
        next="-i $next --steps 2 --method direct"
        "$stdcl" nbody $pick $next -q -o next.npy && job 0 "" $many "$stdcl" nbody $pick $next -q --share -o parts.npy
        cmp next.npy parts.npy || bad=1
    done
done
unset STDCL_TEST_REBALANCE
for which in one many; do
    "$stdcl" nbody $pick -i $which.$hdf5 --steps 0 -q -o $which.npy || bad=1
done
cmp one.npy many.npy || bad=1
# Warnings count the bodies of all slices.
tiny="-n 700 --method tree --precision single --dt 1e-9 --steps 2"
"$stdcl" nbody $pick $tiny -o one.npy >out 2>err || bad=1
moved=$(sed -n 's/.* moves \([0-9]* of 700 bodies by less\) .*/\1/p' err)
job 0 "${moved:-no warning}" 2 "$stdcl" nbody $pick $tiny --share -o many.npy
cmp one.npy many.npy || bad=1
"$stdcl" matmul -n 70 -m 50 -k 60 --engine cpu-blocked -q -o a.npy && "$stdcl" matmul -a a.npy -b a.npy --trans NT --engine cpu-blocked -q -o one.npy || bad=1
[ $mpi = openmpi ] && core="--repeat 3" || core=--out-of-core # matrices in memory, with other shares each time, and in their files
export STDCL_TEST_REBALANCE=1
job 0 '"error": ' $many "$stdcl" matmul -a a.npy -b a.npy --trans NT --engine cpu-blocked -o many.npy --json $core
unset STDCL_TEST_REBALANCE
cmp one.npy many.npy || bad=1
# NaN in the last row is counted by the last rank; a C in Fortran order.
printf '\223NUMPY\1\0\72\0%s\0\0\200\077\0\0\300\177' "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 1), }" >nan.npy
job 0 '"nan": 2,' 2 "$stdcl" matmul -a nan.npy -c nan.npy --beta 1 -n 1 --engine cpu-blocked --json
sampled && job 2 "--stepping adaptive and several ranks cannot be combined" 2 "$stdcl" nbody $pick -n 100 --steps 1 --stepping adaptive --share
sampled && job 2 "--external nfw:M=10,a=2 and several ranks cannot be combined" 2 "$stdcl" nbody $pick -n 100 --steps 1 --external nfw:M=10,a=2 --share
if sampled; then
    "$stdcl" nbody $pick -n 100 --dt 0.01 --steps 1 --external point:1 -q -o field.tab || bad=1
    job 1 "field.tab: its metadata have the forces point:1, but external fields need one rank; give --external none" 2 "$stdcl" nbody $pick -i field.tab --steps 1 --share
fi
for method in direct tree; do
    [ -f $method.ckpt ] || continue
    "$stdcl" nbody $pick --resume $method.ckpt -q -o resumed.npy && cmp $method.npy resumed.npy || bad=1
    # Further steps have equal bits on one device, on two and on ranks.
    further="nbody --resume $method.ckpt --steps 34 -q --checkpoint further.ckpt"
    "$stdcl" $further $pick -o one.npy && mv further.ckpt one.ckpt || bad=1
    job 0 "" $many "$stdcl" $further $pick --share -o many.npy
    cmp one.npy many.npy || bad=1
    # Each rank has read and written its bodies only. The state is at the end of the file.
    tail -c 60000 one.ckpt >one.state
    tail -c 60000 further.ckpt | cmp - one.state || bad=1
    for which in one further; do "$stdcl" nbody --resume $which.ckpt $pick --steps 36 -q -o $which.npy || bad=1; done
    cmp one.npy further.npy || bad=1
    [ -z "$pick" ] || { "$two_devices" "$stdcl" $further --device all -o two.npy && cmp many.npy two.npy; }
    case $? in 0 | 77) ;; *) bad=1 ;; esac
done
"$stdcl" nbody -n 20 --steps 2 --checkpoint host.ckpt -q || bad=1
sampled && job 1 "computes on the host, which ranks do not divide" 2 "$stdcl" nbody $pick --resume host.ckpt --steps 4 --share
sampled && job 0 "16 bodies are few: one rank would use ias15" 2 "$stdcl" nbody $pick -n 16 --until 0.1 --share
sampled && job 0 "50 bodies are few: one rank would use the host" 2 "$stdcl" nbody -n 50 --steps 1 --share
sampled && job 2 "start one rank only" 2 "$stdcl" nbody $pick -n 100 --compare --share
# lonely WORDS FILE COMMAND...: rank 1 does not have the file.
lonely() {
    words=$1 file=$2
    shift 2
    job 1 "$words" 2 sh -c 'file=$0; cd "$(mktemp -d -p .)" && { [ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 1 ] ||
        cp "../$file" .; } && exec "$@"' "$file" "$@"
}
head -c 500 one.tipsy >cut.std
sampled 2 && job 1 "cut.std: is cut short: 500 bytes of the " 2 "$stdcl" nbody $pick -i cut.std --eps 0.05 --dt 0.01 --steps 2 --share
sampled 2 && lonely "rank 1 on $(uname -n): it has as one.npy '" one.npy "$stdcl" nbody $pick -i one.npy --eps 0.05 --dt 0.01 --steps 2 --share
sampled && lonely "rank 1 on $(uname -n): it has as glider.rle '" glider.rle "$stdcl" life $pick --pattern glider.rle --share
sampled 2 && lonely "new.ckpt: all ranks write it, and must see its folder" one.npy "$stdcl" nbody $pick -n 300 --steps 1 --checkpoint new.ckpt --share
mkfifo pipe.ckpt
sampled 2 && job 2 "pipe.ckpt is not a regular file" 2 "$stdcl" nbody $pick -n 300 --steps 1 --checkpoint pipe.ckpt --share
share=
"$two_devices" /bin/true >/dev/null 2>&1 || two_devices="" share=--share # each rank has a device of its own where there are two
job 0 "ranks waited " 2 $two_devices "$stdcl" gas -n 1e6 $pick --explain $share
grep -q " on 1 host, 2 ranks" out || { echo "FAILED  the report tells its ranks"; cat out; bad=1; }
sampled && job 2 "unknown option '--nonsense'" 2 "$stdcl" gas --nonsense
[ -n "$five" ] || # Open MPI 5 crashes on any two programs in a line
    job 1 "rank 1 on $(uname -n): it has the options 'gas -n 2e6', rank 0 on $(uname -n) has 'gas -n 1e6'" 1 "$stdcl" gas -n 1e6 : -n 1 "$stdcl" gas -n 2e6
mkdir -p older && sed 's/1\.0\.0\x00/0.9.9\x00/g' "$stdcl" >older/stdcl && chmod +x older/stdcl
export STDCL_MPI="$folder/world-$mpi.so"
[ -n "$five" ] || ! sampled ||
    job 1 "rank 1 on $(uname -n): it has stdcl version '0.9.9', rank 0 on $(uname -n) has '1.0.0'" 1 "$stdcl" gas -n 1e6 : -n 1 older/stdcl gas -n 1e6
unset STDCL_MPI
# A disk that is full for one rank: no file is left. (MPICH makes large files of its own, and so
# does Open MPI 5.)
full=
[ $mpi$five != openmpi ] || ! sampled || full=yes
[ -z "$full" ] || job 1 "rank 1 on $(uname -n): " 2 sh -c 'trap "" XFSZ; [ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 0 ] || ulimit -f 8; exec "$@"' - "$stdcl" matmul -n 100 \
    --precision double --engine cpu-blocked -q -o full.npy
[ -z "$full" ] || grep -q "full.npy: the file grows larger than the system allows" err && [ -z "$(ls -A | grep full)" ] || { echo "FAILED  a full disk"; cat err; ls -A; bad=1; }
# A checkpoint that one rank cannot write leaves the file before it; PoCL's own files are smaller than the limit.
if [ -n "${STDCL_TEST_DEEP:-}" ] && [ $mpi$five = openmpi ]; then
    large="nbody $pick -n 200000 --method tree --accuracy 0.1 -q --checkpoint large.ckpt"
    "$stdcl" $large --steps 1 && cp large.ckpt one.ckpt || bad=1
    job 1 "checkpoint not written: rank 1 on $(uname -n): large.ckpt: the file grows larger than the system allows; nothing was written; the older checkpoint is kept" 2 sh -c 'trap "" XFSZ; [ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 0 ] || ulimit -f 14000; exec "$@"' - \
        "$stdcl" $large --steps 2 --share
    cmp large.ckpt one.ckpt && [ -z "$(ls -A | grep large.*tmp)" ] || { echo "FAILED  a full disk for a checkpoint"; bad=1; }
fi
# Outputs that fail on one rank end neither the run nor the other outputs, and each is named once.
ln -s /dev/full full-1.csv && ln -s /dev/full full-2.csv && ln -s /dev/full energy.svg && ln -s /dev/full lagrange.svg
each_is_full() { # FILE...
    for file in "$@"; do
        [ "$(grep -cF -- "$file: the disk is full" err)" = 1 ] || return 1
    done
}
if sampled 2 && [ -w /dev/full ]; then
    job 1 "/dev/full: the disk is full" 2 $two_devices "$stdcl" nbody $pick -n 4000 --steps 3 --csv /dev/full -o kept.tab --forces full-1.csv --plot energy.svg --plot lagrange.svg $share
    each_is_full full-1.csv energy.svg lagrange.svg && grep -q "written  *kept.tab" out && [ "$(grep -vc '^#' kept.tab)" = 4000 ] ||
        { echo "FAILED  outputs after one that failed"; cat out err; bad=1; }
    job 1 "full-1.csv: the disk is full" 2 $two_devices "$stdcl" gas $pick -n 1e5 --histogram full-1.csv --histogram full-2.csv $share
    each_is_full full-2.csv && ! grep -q MPI_Abort err || { echo "FAILED  histograms after one that failed"; cat out err; bad=1; }
fi
devices=$("$stdcl" devices --json | grep -c '"number"')
sampled && job 1 "start fewer ranks" $((devices + 1)) "$stdcl" gas -n 1e6 --device all
! sampled || { job 0 '"program": "devices"' 2 "$stdcl" devices --json && [ "$(grep -c '"host": "' out)" = "$devices" ]; } || { echo "FAILED  devices of all hosts"; cat out; bad=1; }

# ---- A command that fails on one rank ends both, with its message; the other may be waiting for
# its messages, or sending some.
fails() { # fails CALL COMMAND...: on rank 1, which alone has the layer
    export STDCL_FAULT="$1" STDCL_FAULT_LOG="$box/struck"
    shift
    rm -f struck
    job 1 "rank 1 on $(uname -n): " 1 "$@" : -n 1 env OPENCL_LAYERS="$layer" "$@"
    grep -q fault struck && [ -z "$(ls -A | grep lost)" ] || { echo "FAILED  a rank that fails: $*"; cat err; ls -A; bad=1; }
    unset STDCL_FAULT STDCL_FAULT_LOG
}
[ -z "$layer" ] || OPENCL_LAYERS=$layer STDCL_FAULT_LOG=$box/layers "$stdcl" devices >/dev/null
if [ -s layers ] && [ -z "$five" ]; then
    # The layer's device differs from rank 0's, so speeds are measured: with enough bodies rank 1
    # gets some of them.
    sampled && fails "clEnqueueReadBuffer 1 -5 refused" "$stdcl" nbody $pick -n 4096 --method direct --steps 6 --share -q -o lost.tab
    sampled && fails "clEnqueueNDRangeKernel 20 -2 failed" "$stdcl" nbody $pick -n 4096 --method direct --steps 30 --share -q -o lost.tab # a device that is lost
    sampled && fails "clEnqueueNDRangeKernel 5 -5 failed" "$stdcl" nbody $pick -n 4096 --method tree --steps 6 --share -q -o lost.tab
    sampled && fails "clEnqueueReadBuffer 1 -5 refused" "$stdcl" life $pick --size 96x80 -n 40 --share -q -o lost.rle
    sampled && fails "clEnqueueNDRangeKernel 2 -5 failed" "$stdcl" gas $pick -n 1e5 --share -q --histogram lost.csv
    sampled && fails "clEnqueueNDRangeKernel 1 -5 failed" "$stdcl" matmul $pick -n 100 --share -q -o lost.npy
fi

# ---- A signal, for all ranks or for one, ends the job after the current work: with one status, and
# complete files.
catches() { # PID: it has a handler for SIGVTALRM, cli/interrupt.c's last. LLVM, in drivers, has handlers for the others before
    mask=$(sed -n 's/^SigCgt:[^0-9a-f]*\([0-9a-f]*\)/\1/p' "/proc/$1/status" 2>/dev/null)
    [ $((0x0${mask:-0} >> 25 & 1)) = 1 ]
}
running() { # all ranks catch signals
    ready=0
    while [ $ready -lt 2 ] && kill -0 $launcher 2>/dev/null; do
        sleep 0.1
        ready=0
        for file in pid.*; do
            ! catches "${file#pid.}" || ready=$((ready + 1))
        done
    done
}
strike() { # SIGNAL TARGET
    set -- "$1" "$2" pid.*
    case $2 in
    launcher) kill -$1 $launcher ;;
    one) kill -$1 "${3#pid.}" ;;
    other) kill -$1 "${4#pid.}" ;;
    all) kill -$1 "${3#pid.}" "${4#pid.}" ;;
    esac
}
ends() { # SIGNAL TARGET FILE COMMAND...: FILE is there at the end, or "": nothing has been asked for
    signal=$1 whom=$2 file=$3
    shift 3
    rm -f pid.* ended.*
    $launch -n 2 sh -c 'echo >pid.$$; exec "$@"' - "$@" --share -q ${file:+-o $file} >out 2>err </dev/null &
    launcher=$!
    running
    strike $signal $whom
    # mpirun of Open MPI 4 may lose a signal that comes soon after the ranks' start.
    late=0
    while [ $whom = launcher ] && [ $late -lt 200 ] && kill -0 $launcher 2>/dev/null; do
        sleep 0.1
        late=$((late + 1))
        [ $late -lt 200 ] || { echo "said again: SIG$signal"; strike $signal $whom; }
    done
    wait $launcher
    got=$?
    want=143
    [ $signal = TERM ] || want=140
    if [ $got = $want ] && [ ! -s out ] && { [ -z "$file" ] || [ -s $file ]; }; then
        echo "ok      SIG$signal for $whom: $2"
    else
        echo "FAILED  a job with SIG$signal for $whom: $*: status $got, not $want"
        cat out err
        ls -A
        bad=1
    fi
}
[ $mpi = openmpi ] && all=launcher || all=all # mpirun passes SIGUSR2 on
ends USR2 $all "" "$stdcl" gas $pick -n 1e15
ends TERM all "" "$stdcl" gas $pick -n 1e15 # as batch systems do
ends TERM one "" "$stdcl" gas $pick -n 1e15
sampled && ends TERM other ended.npy "$stdcl" nbody $pick -n 3000 --method direct --steps 100000000
sampled && ends TERM one ended.npy "$stdcl" nbody $pick -n 3000 --method tree --steps 100000000
sampled && ends TERM other ended.rle "$stdcl" life $pick --size 512x512 --soup=0.3 -n 1000000000000
sampled && ends TERM one "" "$stdcl" matmul $pick -n 3000 --repeat 1000000
sampled && ends TERM other "" "$stdcl" matmul -n 1500 --engine cpu-blocked --repeat 1000000

# ---- A killed rank: the job ends within ten seconds, the last checkpoint is whole, and a run resumes
# from it with the bits of one that nothing stopped.
killed() { # WHO FILE COMMAND...: the job writes FILE again and again
    whom=$1 file=$2
    shift 2
    rm -f pid.*
    $launch -n 2 sh -c 'echo >pid.$$; exec "$@"' - "$@" --share -q >out 2>err </dev/null &
    launcher=$!
    until [ -f "$file" ] || ! kill -0 $launcher 2>/dev/null; do sleep 0.1; done
    strike KILL "$whom"
    since=$(date +%s)
    wait $launcher && return 1
    [ $(($(date +%s) - since)) -le 10 ] || { echo "FAILED  the job ended late"; return 1; }
}
killed_life() {
    soup="--size 300x200 --soup=0.3"
    killed one kept.mc "$stdcl" life $pick $soup -n 2^40 --every-minutes 1e-5 -o kept.mc || return 1
    from=$("$stdcl" life $pick -p kept.mc -n 0 | sed -n 's/^generations .*, from \([0-9]*\) to.*/\1/p')
    "$stdcl" life $pick $soup -n "$from" -q -o one.mc && cmp kept.mc one.mc && echo "ok      killed, and left generation $from"
}
killed_nbody() { # WHO
    model="-n 1500 --method tree"
    rm -f kept.ckpt
    killed "$1" kept.ckpt "$stdcl" nbody $pick $model --steps 100000000 --checkpoint kept.ckpt --every-minutes 1e-5 || return 1
    step=$(grep -aom1 '"step": [0-9]*' kept.ckpt | tr -dc 0-9)
    "$stdcl" nbody $pick --resume kept.ckpt --steps $((step + 2)) -q -o resumed.npy &&
        "$stdcl" nbody $pick $model --steps $((step + 2)) -q -o one.npy && cmp one.npy resumed.npy &&
        echo "ok      killed, and left step $step"
}
! sampled || killed_life || { echo "FAILED  cells of a job that was killed"; cat out err; bad=1; }
for whom in one other; do
    ! sampled 2 || killed_nbody $whom || { echo "FAILED  a checkpoint of a job that was killed"; cat out err; bad=1; }
done
exit $bad
