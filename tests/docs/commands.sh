#!/bin/sh
# commands.sh - run the commands of `stdcl` shown in the documents and in the examples of --help, in
# smaller sizes (smaller.sed): a sixth of them, or all with STDCL_TEST_DEEP=1. Each must succeed.
#   usage: commands.sh SOURCE WORK STDCL
# SPDX-License-Identifier: MIT
set -eu
export LC_ALL=C # one order of the commands on all systems
source=$1 work=$2 stdcl=$3
here=$source/tests/docs

rm -rf "$work" && mkdir -p "$work/bin" && cd "$work"
export XDG_CACHE_HOME="$work/cache" PATH="$work/bin:$PATH"
export POCL_CACHE_DIR="${POCL_CACHE_DIR:-$HOME/.cache/pocl/kcache}" # compiled kernels may be old
ln -s "$stdcl" bin/stdcl
# A stand-in for the program that makes films: it reads its input and leaves a file.
printf '#!/bin/sh\nfor last; do :; done\ncat >/dev/null\necho film >"$last"\n' >bin/ffmpeg
printf '#!/bin/sh\ncat >/dev/null; echo "<svg/>"\n' >bin/gnuplot
chmod +x bin/ffmpeg bin/gnuplot

# Programs to check, if Oclgrind is installed.
for program in simulation program; do
    printf '#!/bin/sh\nexec stdcl gas -n 1000 -q\n' >$program
    chmod +x $program
done

# Commands are in blocks, indented or fenced, perhaps after "$ " and with arguments on a second
# line, or in backquotes. Text after three blanks or a # is a remark; text with [ ] describes an
# option.
awk '
    /\\$/ { sub(/\\$/, ""); whole = whole $0; next }
    { line = whole $0; whole = "" }
    match(line, /^( *|    \$ )(build\/bin\/)?stdcl [a-z]/) && line !~ /\[--/ && (line ~ /^ / || fenced) {
        sub(/^[ $]*(build\/bin\/)?/, "", line)
        print line
    }
    /^```/ { fenced = !fenced }
    !fenced { while (match(line, /`stdcl [a-z]+ [^`]*`/)) {
        print substr(line, RSTART + 1, RLENGTH - 2)
        line = substr(line, RSTART + RLENGTH)
    } }' "$source"/README.md "$source"/docs/*.md >found
stdcl --help | awk '/^  [a-z]/ { print $1 }' >programs
while read -r program; do
    stdcl "$program" --help | sed -n '/^Examples/,$s/^  stdcl /stdcl /p' >>found
done <programs
sed -E 's/ +#.*//; s/ {3,}[a-z0-9,].*//; s/  +/ /g' found | sort -u >shown
sed -E -f "$here/smaller.sed" shown | sort -u >commands
command -v oclgrind >/dev/null || sed -i '/^stdcl check \.\//d' commands
[ "$(wc -l <commands)" -gt 60 ] || { echo "only $(wc -l <commands) commands were found"; exit 1; }

# Input files of the commands.
stdcl nbody -n 20 --steps 0 -q -o galaxy.tab
printf '1 0 0 0 0 0 0\n1e-6 1 0 0 0 1 0\n' >planets.tab
stdcl nbody -n 20 --steps 1 -q --checkpoint run.ckpt
if stdcl nbody -n 20 --steps 0 -q -o with.hdf5 2>said; then
    cp with.hdf5 snap-0000.hdf5
    cp with.hdf5 snapshot_010.hdf5
else # built without libhdf5
    grep -q libhdf5 said
    sed -i 's/\.hdf5/.npy/' commands
    stdcl nbody -n 20 --steps 0 -q -o snap-0000.npy
    cp snap-0000.npy snapshot_010.npy
fi
stdcl matmul -n 8 -q -o a.npy
stdcl matmul -n 8 --seed 1 -q -o b.npy
stdcl matmul -m 8 -n 3 -k 8 -q -o velocities.npy
printf 'B3/S23\nB36/S23\n' >rules.txt
cp "$source/data/gun.rle" "$source"/lua/examples/*.lua .
cp energy.lua script.lua
printf '%s\n' '#Life 1.06' '0 0' '4 0' '5 0' '6 0' '0 1' '1 1' '2 1' '5 1' '1 2' >rabbits.lif
ln -s "$source/data" data
ln -s "$source/lua" lua
for kernel in scale sum kernels; do
    printf 'kernel void %s(global float *x) { x[0] *= 2; }\n' $kernel >$kernel.cl
done

# The sample: commands whose checksum is a multiple of six, so that a new command changes no other's
# place in it.
if [ -z "${STDCL_TEST_DEEP:-}" ]; then
    while read -r line; do
        [ $(($(printf %s "$line" | cksum | cut -d ' ' -f 1) % 6)) -ne 0 ] || printf '%s\n' "$line"
    done <commands >sample
    echo "a sixth of the commands; with STDCL_TEST_DEEP=1 all"
else
    cp commands sample
fi

# Print the commands that write the missing input files of command $1, each after the writers of its
# own. Inputs are words with a suffix after --resume, an option of one letter other than -o, or a
# word that is no option.
writers() {
    option=
    for word in $1; do
        case $option,$word in
        --resume,* | -[!o-],*.[a-z]* | [!-]*,*.[a-z]*)
            writer=$(grep -E -- " (-o|--[a-z]+) $word( |\$)" commands | grep -v -m 1 -e "--resume $word") || writer=
            if [ ! -e "$word" ] && [ -n "$writer" ] && [ "$writer" != "$1" ]; then
                (writers "$writer")
                printf '%s\n' "$writer"
            fi
            ;;
        esac
        option=$word
    done
}

# Run the command $1.
bad=0
run() {
    status=0
    case $1 in # CLBlast's kernels take half a minute to compile, less if they need not be fast; others test_cli_matmul has so
    *matmul*) export POCL_EXTRA_BUILD_FLAGS=-cl-opt-disable ;;
    *) unset POCL_EXTRA_BUILD_FLAGS ;;
    esac
    sh -c "$1" >said 2>&1 </dev/null || status=$?
    if [ $status -ne 0 ]; then
        echo "'$1' ends with status $status:"
        sed 's/^/    /' said
        bad=1
    fi
    printf '%s\n' "$1" >>ran
}

: >ran
while read -r line; do
    writers "$line" >first
    while read -r writer; do
        grep -qxF -- "$writer" ran || run "$writer"
    done <first
    grep -qxF -- "$line" ran || run "$line"
done <sample
echo "$(wc -l <ran) commands"
exit $bad
