#!/bin/sh
# abi.sh - the binary interface of the shared libraries: symbols and their types.
#   usage: tools/abi.sh check|write FOLDER [BASELINES]       FOLDER has the built libraries, BASELINES is abi/
# `write` makes the baselines, LIBRARY.abi.gz, for a release; `check` fails if a symbol vanished or changed since;
# additions pass. It takes libabigail (package abigail-tools), and libraries with debug information of gcc
# on x86-64. Status 77: they are not.
# SPDX-License-Identifier: MIT
set -eu
what=$1 built=$(cd "$2" && pwd)
cd "$(dirname "$0")/.."
baselines=${3:-abi}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

written_by=2.2 # of libabigail: another version may see another type in the same bytes
command -v abidiff >/dev/null || { echo "abidiff is not installed"; exit 77; }
case $(abidiff --version) in
*" $written_by".*) ;;
*) echo "abi/ was written by libabigail $written_by, and this is $(abidiff --version)"; exit 77 ;;
esac
[ "$(uname -m)" = x86_64 ] || { echo "abi/ is of x86-64"; exit 77; }

case $what in
write)
    for library in "$built"/libstdcl*.so.1; do
        abidw --headers-dir include --drop-private-types --no-corpus-path --no-comp-dir-path "$library" |
            gzip -9n >"$baselines/$(basename "$library" .so.1).abi.gz"
    done
    ;;
check)
    for baseline in "$baselines"/*.abi.gz; do
        name=$(basename "$baseline" .abi.gz)
        gzip -dc "$baseline" >"$work/$name.abi"
        abidiff --no-added-syms --drop-private-types --headers-dir2 include "$work/$name.abi" "$built/$name.so.1" || {
            echo "$name has changed for programs that were compiled before; 'make abi' takes that as it is, before a release"
            exit 1
        }
    done
    ;;
*)
    echo "abi.sh: say check or write" >&2
    exit 2
    ;;
esac
