#!/bin/sh
# languages.sh - runs the first program of docs/fortran.md, docs/cxx.md or docs/python.md.
#   usage: languages.sh PAGE COMMAND [argument...]      {} in an argument is the program's file, {}.out a file for its binary,
#                                                       which runs then
# SPDX-License-Identifier: MIT
set -eu
page=$1
shift
case $page in *fortran.md) suffix=f90 ;; *cxx.md) suffix=cpp ;; *) suffix=py ;; esac
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
awk '/^    / { block = block substr($0, 5) "\n"; next } /^$/ && block != "" { block = block "\n"; next }
     block != "" { exit } END { printf "%s", block }' "$page" >"$work/first.$suffix"
lines=$(grep -c . "$work/first.$suffix")
[ "$lines" -ge 8 ] || { echo "$page has no program"; exit 1; }
[ $suffix != py ] || [ "$lines" -le 15 ] || { echo "the first program of $page has $lines lines, more than 15"; exit 1; }
for word; do
    shift
    set -- "$@" "$(printf '%s' "$word" | sed "s|{}|$work/first.$suffix|")"
done
cd "$work"
"$@"
[ ! -e "first.$suffix.out" ] || "./first.$suffix.out"
