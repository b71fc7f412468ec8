#!/bin/sh
# check.sh - `stdcl check` and STDCL_DEBUG=2 detect errors in kernels and name the line.
#
#   check.sh program STDCL PROGRAM   programs, under Oclgrind; PROGRAM is check_faulty.c's
#   check.sh kernels STDCL           kernel files
# SPDX-License-Identifier: MIT
set -eu
kind=$1 stdcl=$2 program=${3:-}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

fail() {
    echo "$*"
    cat "$folder/said"
    exit 1
}

# expect STATUS TEXT COMMAND...: the command exits with STATUS and prints a line that matches TEXT,
# a regular expression
expect() {
    status=$1 text=$2 got=0
    shift 2
    "$@" >"$folder/said" 2>&1 || got=$?
    [ $got -eq "$status" ] || fail "'$*' ends with $got instead of $status:"
    grep -Eqxe "$text" "$folder/said" || fail "'$*' does not say '$text':"
}

lines() { # lines TEXT: how often the last command said it
    grep -Ec "$1" "$folder/said" || true
}

programs() {
    expect 1 'kernels/faulty.cl:6:[0-9]+: kernel past_the_end writes 4 bytes outside of global buffers, in work-item \(7,0,0\)' \
        "$stdcl" check "$program" past_the_end 0
    [ "$(lines faulty.cl)" = 1 ] || fail "one mistake is told more than once:"
    grep -q 'check: 1 place with errors, seen 2 times' "$folder/said" || fail "the second context's is not counted:"
    expect 1 'kernels/faulty.cl:11:[0-9]+: kernel race has a data race in global buffers: .*' "$stdcl" check "$program" race 0
    expect 1 'kernels/faulty.cl:19:[0-9]+: kernel unwritten writes a value .* uninitialised memory.*' \
        "$stdcl" check "$program" unwritten 0
    # Memory written by the host, shared with a CPU device, is initialised.
    expect 0 '-?[0-9]+' "$stdcl" check -q "$program" no_fault 0
    [ "$(lines check)" = 0 ] || fail "something is found in a kernel without fault:"
    expect 0 '.*no errors found in kernels' "$stdcl" check "$program" no_fault 0
    # The status is the program's where there is no finding.
    expect 7 '.*the program exited with status 7' "$stdcl" check "$program" no_fault 7
    expect 143 '.*killed by signal 15.*' "$stdcl" check sh -c 'kill -TERM $$'
    expect 143 '.*: no errors found in kernels before the program was killed by signal 15.*' \
        "$stdcl" check sh -c '"$1" no_fault 0; kill -TERM $$' - "$program"
    [ "$(lines 'no errors found in kernels$')" = 0 ] || fail "a killed program is called good:"
    # A signal that only the command gets is passed on, unless it is ignored, as in the background of a shell.
    [ "$(sh -c 'kill -INT $$; echo ignored')" = ignored ] ||
        expect 130 '.*killed by signal 2.*' "$stdcl" check sh -c 'kill -INT $PPID; exec sleep 60'
    # The program does not inherit the command's signal handling.
    [ "$(sh -c 'kill -XFSZ $$; echo ignored')" = ignored ] ||
        expect 153 '.*killed by signal 25.*' "$stdcl" check sh -c 'kill -XFSZ $$; exec sleep 0'
    expect 1 '.*no program .no-such-program.*' "$stdcl" check no-such-program
    expect 1 ".*'$folder' is a directory.*" "$stdcl" check "$folder"
    : >"$folder/text"
    expect 1 ".*text' is neither an executable program.*" "$stdcl" check "$folder/text"
    # Where Oclgrind has seen no context, nothing was checked.
    expect 1 '.*the program created no OpenCL context under Oclgrind; nothing was checked' "$stdcl" check true
    expect 1 '.*the program created no OpenCL context under Oclgrind; nothing was checked' "$stdcl" check -q true
    expect 7 '.*; nothing was checked' "$stdcl" check sh -c 'exit 7'
    [ "$(lines 'no errors found')" = 0 ] || fail "what was not checked is called good:"
    # Without Oclgrind.
    mkdir "$folder/bin"
    expect 1 '.*Oclgrind.* is not installed.*apt-get install oclgrind.*' env PATH="$folder/bin" "$stdcl" check "$program" race 0
    # STDCL_DEBUG=2 does the same, by the command in $PATH, and says what it misses there.
    expect 99 '.*the command stdcl is not in .PATH.*' env PATH="$folder/bin" STDCL_DEBUG=2 "$program"
    ln -s "$stdcl" "$folder/bin/stdcl"
    expect 1 'kernels/faulty.cl:6:[0-9]+: kernel past_the_end writes .*' \
        env PATH="$folder/bin:$PATH" STDCL_DEBUG=2 "$program" past_the_end 0
    expect 7 '.*the program exited with status 7' env PATH="$folder/bin:$PATH" STDCL_DEBUG=2 "$program" no_fault 7
}

kernels() {
    expect 0 '  axpy\(float a, float\* x, float\* y\)' "$stdcl" check kernels/basic.cl kernels/unrolled.clt
    [ "$(lines '^kernels/[a-z.]* compiles for ')" = 2 ] || fail "one of two files is not told:"
    grep -q '  reverse(int\* x, local int\* tile)' "$folder/said" || fail "local memory is not told:"
    expect 1 '.*kernels/broken.cl:10:12.*undeclared_thing.*' "$stdcl" check kernels/basic.cl kernels/broken.cl
    [ "$(lines '^kernels/[a-z.]* compiles for ')" = 1 ] || fail "the other file is not checked:"
    expect 1 '.*nothing.cl: No such file or directory' "$stdcl" check nothing.cl
    cp kernels/includes.cl "$folder/x.cl"
    expect 1 '.*x.cl:[0-9]+:[0-9]+.*neighbour.h.*' "$stdcl" check "$folder/x.cl"
    expect 0 '  included\(float\* out\)' "$stdcl" check "$folder/x.cl" -I kernels
    printf 'kernel void f(global float *x) { x[0] = N; }\n' >"$folder/n.cl"
    expect 1 '.*n.cl:1:.*' "$stdcl" check "$folder/n.cl"
    expect 2 ".*-I: no directory '$folder/none'" "$stdcl" check -I "$folder/none" "$folder/n.cl"
    printf 'float twice(float x) { return 2 * x; }\n' >"$folder/none.cl"
    expect 0 '.*none.cl compiles for .*; no kernels' "$stdcl" check "$folder/none.cl"
    expect 0 '  f\(float\* x\)' "$stdcl" check -D N=3 "$folder/n.cl"
    expect 2 '.*-D needs kernel files .*' "$stdcl" check -D N=3 sh
    expect 0 '  f\(float\* x\)' "$stdcl" check -D 'N=F(1 + 2)' -D 'F(x)=x' "$folder/n.cl"
    expect 2 ".*-D: '3N' is not NAME or NAME=VALUE.*" "$stdcl" check -D 3N "$folder/n.cl"
    expect 2 ".*-D: 'N=\"a b\"' is not NAME or NAME=VALUE.*" "$stdcl" check -D 'N="a b"' "$folder/n.cl"
    printf 'kernel\0' >"$folder/n.cl"
    expect 1 ".*n.cl' is not OpenCL C: it contains zero bytes" "$stdcl" check "$folder/n.cl"
    mkfifo "$folder/p.cl" # which nobody ever writes to
    expect 1 '.*p.cl is not a regular file' "$stdcl" check "$folder/p.cl"
    expect 2 '.*the program or kernel file is missing.*' "$stdcl" check
}

case $kind in
program) programs ;;
kernels) kernels ;;
esac
