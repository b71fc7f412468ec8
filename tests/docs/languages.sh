#!/bin/sh
# languages.sh - run the first two programs of docs/fortran.md, docs/cxx.md or docs/python.md: a
# result within ten lines, and a kernel, in Python with a profile within 15.
#   usage: languages.sh PAGE COMMAND [argument...]      {} in an argument is the program's file, {}.out a file for its binary,
#                                                       which runs then
# SPDX-License-Identifier: MIT
set -eu
page=$1
shift
case $page in *fortran.md) suffix=f90 ;; *cxx.md) suffix=cpp ;; *) suffix=py ;; esac
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Blocks of code, except commands, which are one line.
awk -v base="$work/program" -v suffix=$suffix '
    /^    / { block = block substr($0, 5) "\n"; lines++; next }
    /^$/ && lines { block = block "\n"; next }
    lines > 1 && ++n <= 2 { printf "%s", block >(base n "." suffix) }
    { block = ""; lines = 0 }' "$page"
run() { # run FILE MOST_LINES COMMAND...
    file=$1 lines=$(grep -c . "$1")
    [ "$lines" -le "$2" ] || { echo "$page: the program of $lines lines has more than $2"; exit 1; }
    shift 2
    for word; do
        shift
        set -- "$@" "$(printf '%s' "$word" | sed "s|{}|$file|")"
    done
    "$@"
    [ ! -e "$file.out" ] || "$file.out"
}
cd "$work"
run "$work/program1.$suffix" 10 "$@"
most=20
[ $suffix != py ] || most=15
run "$work/program2.$suffix" $most "$@"
