#!/bin/sh
# hosts.sh - jobs on several simulated hosts: each is a namespace of this machine with its own name,
# network card, /tmp and shared memory, so that ranks communicate by TCP over a bridge only. /mnt is
# a folder that all of them share.
#   usage: hosts.sh MPI FOLDER STDCL [COMMAND]
# MPI: openmpi or mpich. FOLDER: the plugins. COMMAND: run on the first host instead of the jobs,
# with $launch.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2086,SC2329 # lists of words; functions that are called by name
set -u
mpi=$1 folder=$2 stdcl=$3 command=${4:-}
if [ -z "${STDCL_WITHIN:-}" ]; then
    within="unshare --mount --net --uts --ipc --pid --fork --kill-child --mount-proc"
    [ "$(id -u)" = 0 ] || within="$within --map-root-user"
    $within sh -c 'ip link add br0 type bridge && ip link add v0 type veth peer name v1 && mount -t tmpfs none /mnt' 2>/dev/null || {
        echo "this system does not let a test make hosts: namespaces, a bridge and tmpfs"
        exit 77
    }
    STDCL_WITHIN=1 exec $within sh "$0" "$@"
fi

# ---- Three hosts, node1 to node3. Everything ends with this process. mpirun passes none of our
# variables to other hosts, and the tests' own do not affect ranks. No rank uses the disk cache: on
# node1 because of the export, elsewhere because of the ssh below.
for name in $(env | sed -n 's/^\(STDCL_[A-Z_]*\)=.*/\1/p'); do unset "$name"; done
export STDCL_CACHE=0
mount -t tmpfs hosts /mnt && mkdir -p /mnt/bin /mnt/hosts /mnt/shared || exit 1
lib=/mnt/${folder#"$(dirname "$(dirname "$stdcl")")"/}
mkdir -p "$lib" && cp "$stdcl" /mnt/bin/ && cp "$folder/world-$mpi.so" "$lib/" || exit 1
# PoCL's cache is shared as well: below /tmp, each host would get one of its own.
cache=${POCL_CACHE_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/pocl/kcache}
mkdir -p "$cache" /mnt/pocl && mount --bind "$cache" /mnt/pocl && export POCL_CACHE_DIR=/mnt/pocl || exit 1
ip link set lo up && ip link add br0 type bridge && ip link set br0 up || exit 1
echo 127.0.0.1 localhost >/mnt/names
for k in 1 2 3; do echo 10.83.0.$k node$k; done >>/mnt/names
# In place of ssh, whose remote shell has none of our variables.
cat >/mnt/ssh <<'END'
#!/bin/sh
while [ "${1#-}" != "$1" ]; do shift; done
host=$1
shift
exec nsenter -t "$(cat /mnt/hosts/$host)" -m -n -u -i -r env -i PATH="$PATH" HOME="$HOME" STDCL_CACHE=0 POCL_CACHE_DIR="$POCL_CACHE_DIR" \
    ${OCL_ICD_VENDORS:+OCL_ICD_VENDORS="$OCL_ICD_VENDORS"} ${POCL_DEVICES:+POCL_DEVICES="$POCL_DEVICES"} sh -c "$*"
END
chmod +x /mnt/ssh
on() { # HOST COMMAND...
    host=$1
    shift
    nsenter -t "$(cat /mnt/hosts/$host)" -m -n -u -i -r sh -c 'cd /mnt/shared && exec "$@"' - "$@"
}
for k in 1 2 3; do
    unshare --mount --uts --net --ipc sh -c 'mount -t tmpfs none /tmp && mount -t tmpfs none /dev/shm && mount --bind /mnt/names /etc/hosts &&
        hostname "$1" && ip link set lo up && : >"/mnt/hosts/$1.up" && exec sleep 100000' - node$k &
    echo $! >/mnt/hosts/node$k
    while [ ! -f /mnt/hosts/node$k.up ] && kill -0 $! 2>/dev/null; do sleep 0.02; done
    ip link add v$k type veth peer name eth0 netns $! && ip link set v$k master br0 up && on node$k ip addr add 10.83.0.$k/24 dev eth0 &&
        on node$k ip link set eth0 up || exit 1
done
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
case $mpi in
openmpi)
    for k in 1 2 3; do echo node$k; done >/mnt/hostfile
    launch="mpirun.openmpi --hostfile /mnt/hostfile --map-by ppr:1:node --bind-to none --mca plm_rsh_agent /mnt/ssh"
    ;;
mpich) launch="mpiexec.mpich -hosts node1,node2,node3 -launcher ssh -launcher-exec /mnt/ssh -n 3" ;;
esac
cd /mnt/shared || exit 1
[ -z "$command" ] || { export launch mpi; on node1 sh -c "$command"; exit; }

# ---- Jobs: they end in time with the given status ("bad": any but 0), and with one line of
# message.
bad=0
one=/mnt/bin/stdcl
fail() {
    echo "FAILED  $*"
    bad=1
}
job() { # STATUS WORDS COMMAND...
    status=$1 words=$2
    shift 2
    on node1 timeout -k 5 90 $launch "$@" >out 2>err </dev/null
    got=$?
    [ "$status" != bad ] || [ $got = 0 ] || [ $got = 124 ] || status=$got
    if [ $got = "$status" ] && { [ -z "$words" ] || [ "$(cat out err | grep -cF -- "$words")" = 1 ]; }; then
        echo "ok      $*"
    else
        fail "$*: status $got, not $status with one '$words'"
        cat out err
    fi
}
pick=
! $one devices --json | grep -q '"type": "CPU"' || pick="--device cpu"
energy() { sed -n 's/.*"mean_energy": \([^,]*\).*/\1/p' "$1"; }

# ---- Results, with one file on a shared folder.
job 0 '"program": "devices"' $one devices --json
[ "$(grep -o '"host": "node[1-3]"' out | sort -u | wc -l)" = 3 ] || fail "devices of three hosts"
$one gas $pick -n 3e6 --json >alone
job 0 '"program": "gas"' $one gas $pick -n 3e6 --json
[ "$(energy out)" = "$(energy alone)" ] || fail "a gas has another energy"
grep -q ' on 3 hosts, 3 ranks"' out || fail "the report tells its hosts"
for what in "--soup=0.3 --size 300x600" "--soup=0.3 --size 1024x200 --shape across=3"; do
    $one life $pick $what -n 200 -q -o one.rle -o one.cells -o one.mc
    job 0 "" $one life $pick $what -n 200 -q -o many.rle -o many.cells -o many.mc
    cmp one.rle many.rle && cmp one.cells many.cells && cmp one.mc many.mc || bad=1
done
for what in direct tree; do
    $one nbody $pick -n 1500 --method $what --steps 12 -q -o one.npy -o one.tab
    job 0 "" $one nbody $pick -n 1500 --method $what --steps 12 -q -o many.npy -o many.tab -o many.hdf5
    grep -v '^#' one.tab >one.rows # notes name the ranks
    grep -v '^#' many.tab >many.rows
    cmp one.npy many.npy && cmp one.rows many.rows || bad=1
    # The first half on three hosts, the remainder on one, and the other way round.
    job 0 "" $one nbody $pick -n 1500 --method $what --steps 6 -q --checkpoint half
    $one nbody $pick --resume half --steps 12 -q -o many.npy && cmp one.npy many.npy || bad=1
    $one nbody $pick -n 1500 --method $what --steps 6 -q --checkpoint half || bad=1
    job 0 "" $one nbody $pick --resume half --steps 12 -q -o many.npy
    cmp one.npy many.npy || bad=1
done
$one matmul -n 70 -m 50 -k 60 --engine cpu-blocked -q -o a.npy && $one matmul -a a.npy -b a.npy --trans NT --engine cpu-blocked -q -o one.npy || bad=1
for how in "" --out-of-core; do
    job 0 '"error": ' $one matmul -a a.npy -b a.npy --trans NT --engine cpu-blocked --json -o many.npy $how
    cmp one.npy many.npy || bad=1
done

# ---- A folder that is not shared is reported before the computation, and no file is left or
# changed there.
empty() { # nothing of these names on any host
    for k in 1 2 3; do
        [ -z "$(on node$k ls -A /tmp | grep -v ompi)" ] || { fail "node$k has $(on node$k ls -A /tmp)"; on node$k sh -c 'rm -rf /tmp/.*.tmp'; }
    done
}
words="rank 1 on node2: /tmp/lost.npy: all ranks write it, and must see its folder"
job 1 "$words" $one nbody $pick -n 1000 --until 1e9 -q -o /tmp/lost.npy
job 1 "$words" $one matmul -n 100000 -m 3 --engine cpu-blocked -q -o /tmp/lost.npy
empty
on node2 sh -c 'echo mine >/tmp/.lost.npy.0.tmp' # as a job that was killed leaves it
job 1 "rank 1 on node2: /tmp/lost.npy: " $one nbody $pick -n 1000 --until 1e9 -q -o /tmp/lost.npy
[ "$(on node2 cat /tmp/.lost.npy.0.tmp)" = mine ] && on node2 rm /tmp/.lost.npy.0.tmp || fail "another's file was written"
empty
on node1 cp one.tab /tmp/in.tab
job 1 "rank 1 on node2: it has as /tmp/in.tab 'no such file'" $one nbody $pick -i /tmp/in.tab --steps 1 -q
on node1 rm /tmp/in.tab

# ---- Hosts of different kinds.
mkdir -p none other
on node2 mount --bind none "$lib"
job 1 "rank 1 on node2: the launcher started 3 processes, but stdcl was installed without world-$mpi.so" $one gas $pick -n 1000
on node2 umount "$lib"
sed 's/1\.0\.0\x00/0.9.9\x00/g' $one >other/stdcl && chmod +x other/stdcl
on node2 mount --bind other/stdcl $one
job 1 "rank 1 on node2: it has stdcl version '0.9.9', rank 0 on node1 has '1.0.0'" $one gas $pick -n 1000
on node2 umount $one
job 1 "on node2: it has in its environment 'STDCL_CACHE=0', rank 0 on node1 has 'STDCL_CACHE=0 STDCL_TIMEOUT=9'" sh -c '[ "$(uname -n)" = node2 ] || export STDCL_TIMEOUT=9; exec "$@"' - $one gas $pick -n 1000

# ---- A killed rank, and a host cut off from the network: the job ends, with no rank and no
# incomplete file left.
ranks_of() { # HOST
    for process in /proc/[0-9]*; do
        [ "$(readlink $process/exe)" != $one ] || [ "$(readlink $process/ns/net)" != "$(readlink "/proc/$(cat /mnt/hosts/$1)/ns/net")" ] || echo "${process#/proc/}"
    done
}
all_ranks() { for k in 1 2 3; do ranks_of node$k; done; }
while_it_runs() { # COMMAND, when some steps are made: there is a checkpoint
    rm -f steps
    (
        late=0
        until [ -f steps ] || [ $late -gt 600 ]; do
            sleep 0.1
            late=$((late + 1))
        done
        eval "$1"
    ) &
}
endless="$one nbody $pick -n 3000 --method direct --steps 100000000 --checkpoint steps --every-minutes 0.001 -q -o lost.npy"
none_left() {
    late=0
    while [ -n "$(all_ranks)" ] && [ $late -lt 300 ]; do
        sleep 0.1
        late=$((late + 1))
    done
    [ -z "$(all_ranks)" ] || { fail "ranks are left: $(ranks_of node1), $(ranks_of node2), $(ranks_of node3)"; kill -9 $(all_ranks); }
    [ -z "$(ls -A | grep lost)" ] || { fail "half of a file is left: $(ls -A | grep lost)"; rm -f .lost* lost*; }
    wait $!
}
while_it_runs 'kill -9 $(ranks_of node2)'
job bad "" $endless
none_left
while_it_runs 'ip link set v2 down'
job bad "rank 0 on node1 has waited 3 s for rank 1 on node2; " env STDCL_TIMEOUT=3 $endless
none_left
ip link set v2 up
exit $bad
