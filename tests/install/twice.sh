#!/bin/sh
# twice.sh - two builds in different folders install the same bytes. `make test-deep` runs it.
#   usage: twice.sh SOURCE WORK CMAKE CC CXX
# SPDX-License-Identifier: MIT
# Builds the files known to git, as they are in the folder.
set -eu
source=$1 work=$2 cmake=$3 cc=$4 cxx=$5
export CCACHE_DISABLE=1 # a cache would give the second build what the first one made

git -C "$source" rev-parse --git-dir >/dev/null 2>&1 || { echo "$source is no git repository"; exit 77; }
rm -rf "$work" && mkdir -p "$work"

build() { # build FOLDER FOLDER_FOR_OBJECTS PREFIX
    mkdir -p "$1"
    tar -xf "$work/sources.tar" -C "$1"
    "$cmake" -S "$1" -B "$2" -DCMAKE_C_COMPILER="$cc" -DCMAKE_CXX_COMPILER="$cxx" >"$work/log" 2>&1 &&
        "$cmake" --build "$2" --target installed -j "$(getconf _NPROCESSORS_ONLN)" >>"$work/log" 2>&1 &&
        "$cmake" --install "$2" --prefix "$3" >>"$work/log" 2>&1 || { tail -n 30 "$work/log"; exit 1; }
}
(cd "$source" && git ls-files -z | xargs -0 tar -cf "$work/sources.tar")
build "$work/one" "$work/one/build" "$work/first"
build "$work/another/folder of another length" "$work/objects" "$work/second"

diff -r "$work/first" "$work/second" || { echo "FAILED: two builds differ"; exit 1; }
echo "$(find "$work/first" -type f | wc -l) files are the same"
