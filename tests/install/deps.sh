#!/bin/sh
# deps.sh - test tools/deps.sh on simulated systems: a PATH with stand-ins for apt-get, dpkg-query
# and sudo that record their arguments, and without a compiler.
#   usage: deps.sh path/to/tools/deps.sh
# SPDX-License-Identifier: MIT
set -u
script=$1
box=$(mktemp -d) || exit 1
trap 'rm -rf "$box"' EXIT
bad=0

stand_in() { # stand_in NAME BODY
    printf '#!/bin/sh\n%s\n' "$2" >"$box/bin/$1" && chmod +x "$box/bin/$1"
}

# system debian|other UID PACKAGE...: create a system that has these packages.
system() {
    rm -rf "${box:?}"/*
    mkdir "$box/bin" "$box/icd" "$box/build"
    touch "$box/build/Makefile" "$box/calls" "$box/lists"
    for tool in sh awk cat env grep rm sed touch tr; do
        ln -s "$(command -v $tool)" "$box/bin/$tool"
    done
    stand_in id "echo $2"
    if [ "$1" = debian ]; then
        # apt-cache knows every package once the lists exist; `broken` makes an install fail once.
        stand_in dpkg-query 'sed "s/^/installed:/" "$BOX/installed"'
        stand_in apt-cache 'test -e "$BOX/lists"'
        stand_in apt-get '
            said= skip=
            for word; do
                case $skip$word in
                -o) skip=1 ;;
                -* | 1*) skip= ;;
                *) said="$said $word" ;;
                esac
            done
            echo "apt-get$said" >>"$BOX/calls"
            case $said in
            " update") touch "$BOX/lists" ;;
            *) if [ -e "$BOX/broken" ]; then rm "$BOX/broken"; exit 100; fi
               for word in $said; do echo "$word" >>"$BOX/installed"; done ;;
            esac'
    fi
    shift 2
    printf '%s\n' "$@" >"$box/installed"
}

run() { # run ARGUMENT...: runs the script there; sets `status` and `said`
    said=$(PATH=$box/bin BOX=$box PYTHON=$box/bin/python3 BUILD=$box/build HEADERS=$box/include OCL_ICD_VENDORS=$box/icd \
        "$box/bin/sh" "$script" "$@" 2>&1 </dev/null)
    status=$?
}

expect() { # expect WHAT COMMAND...
    what=$1
    shift
    if "$@"; then
        echo "ok      $what"
    else
        bad=1
        echo "FAILED  $what; status $status; it said:"
        echo "$said" | sed 's/^/        /'
        sed 's/^/        it called: /' "$box/calls"
    fi
}
called() { [ "$(cat "$box/calls")" = "$(printf '%b' "$1")" ]; }
status_is() { [ "$status" = "$1" ]; }
says() { case $said in *"$1"*) true ;; *) false ;; esac; }

base='gcc g++ make cmake pkg-config opencl-headers ocl-icd-opencl-dev pocl-opencl-icd libpng-dev'
command='libwebsockets-dev zlib1g-dev libfast-float-dev libluajit-5.1-dev libjansson-dev' # of `make run`, with $base
rest="$command"' libhdf5-dev luajit openmpi-bin libopenmpi-dev gnuplot-nox python3-h5py python3-websockets python3-numpy python3-pycparser clang-format-14 gfortran libcmocka-dev'

# shellcheck disable=SC2086 # one word a package
system debian 0 $base $rest
run
expect "nothing missing: apt-get is not called" called ''
expect "nothing missing: not a word" test -z "$said"
expect "nothing missing: status 0" status_is 0
expect "nothing missing: the build stays configured" test -e "$box/build/Makefile"

# shellcheck disable=SC2086
system debian 0 $base
run
expect "some missing: exactly those are installed" called "apt-get install $rest"
expect "some missing: status 0" status_is 0
expect "some missing: the build is configured again" test ! -e "$box/build/Makefile"

# shellcheck disable=SC2086
system debian 0 $base
run run
expect "for make run: only packages of the command are installed" called "apt-get install $command"
run run
expect "for make run: the second time nothing" called "apt-get install $command"
run
expect "for make test: the remainder" called "apt-get install $command\napt-get install${rest#"$command"}"

# shellcheck disable=SC2086
system debian 0 $base
rm "$box/lists"
run
expect "no package lists: they are fetched first" called "apt-get update\napt-get install $rest"

# shellcheck disable=SC2086
system debian 0 $base
touch "$box/broken"
run
expect "old package lists: fetched when the installation fails" called \
    "apt-get install $rest\napt-get update\napt-get install $rest"
expect "old package lists: status 0 in the end" status_is 0

# shellcheck disable=SC2086
system debian 1000 $base
stand_in sudo 'echo "sudo $1" >>"$BOX/calls"; test "$1" = -n || exit 1; shift; "$@"'
run
expect "a user: through sudo, which may not ask" called "sudo -n\napt-get install $rest"

# shellcheck disable=SC2086
system debian 1000 $base
run
expect "a user without sudo: apt-get is not called" called ''
expect "a user without sudo: says what to run" says "run: apt-get install $rest"
expect "a user without sudo: fails" status_is 1

# shellcheck disable=SC2086
system debian 0 $base libcmocka-dev libjansson-dev
stand_in apt-get 'exit 100'
run
expect "only features cannot be installed: says which" says "still missing: libwebsockets-dev"
expect "only features cannot be installed: goes on" status_is 0

system other 0
run
expect "no apt: names for dnf" says "dnf install gcc gcc-c++ make cmake"
expect "no apt: quotes what the shell would not take" says "'pkgconfig(OpenCL)'"
expect "no apt: names for pacman" says "pacman -S gcc make cmake"
expect "no apt: names for brew" says "brew install gcc make cmake"
expect "no apt: fails" status_is 1

system other 0
for tool in gcc g++ gfortran make cmake luajit mpirun mpicc gnuplot pkg-config python3 clang-format-14; do
    stand_in "$tool" 'exit 0'
done
run
expect "no apt, all but a device: says so" says "pacman -S pocl"
expect "no apt, all but a device: goes on" status_is 0
touch "$box/icd/other.icd"
run
expect "no apt, another device: PoCL is still named" says "pacman -S pocl"
mkdir -p "$box/include/fast_float" && touch "$box/include/fast_float/fast_float.h"
echo libpocl.so.2 >"$box/icd/pocl.icd"
run
expect "no apt, nothing missing: not a word" test -z "$said"

system debian 0
run nonsense
expect "unknown list: status 2" status_is 2
expect "unknown list: installs nothing" called ''

exit $bad
