#!/bin/sh
# make.sh - make the manual pages and shell completions.
#   usage: tools/pages/make.sh COMMAND OUT VERSION DATE
# COMMAND is the built `stdcl`. The folder OUT gets man1/, man3/ and man7/ with the pages, man3/links (a line "PAGE NAME"
# for each function described on another function's page), stdcl.bash, _stdcl, stdcl.fish, and options.table.
# SPDX-License-Identifier: MIT
set -eu
command=$1 out=$2 version=$3 date=$4
here=$(cd "$(dirname "$0")" && pwd)
top=$here/../..
rm -rf "$out"
mkdir -p "$out/man1" "$out/man3" "$out/man7"

page() { # page DIR SCRIPT OPTION... FILE
    folder=$out/$1 script=$2
    shift 2
    LC_ALL=C awk -v dir="$folder" -v date="$date" -v version="$version" -f "$here/mdoc.awk" -f "$here/$script" "$@"
}

"$command" --help=table > "$out/options.table"
page man1 man1.awk "$out/options.table"
page . completions.awk "$out/options.table"
awk -f "$here/examples.awk" "$top/README.md" "$top"/docs/*.md >"$out/blocks"
(cd "$top/include" && ls stdcl.h stdcl/*.h) | while read -r header; do
    page man3 man3.awk -v header="$header" -v blocks="$out/blocks" "$top/include/$header"
done
rm "$out/blocks"
for text in environment files; do
    page man7 man7.awk -v name=stdcl-$text "$top/docs/$text.md"
done
for file in "$out"/man?/*.?; do
    LC_ALL=C awk -f "$here/fold.awk" "$file" >"$out/folded"
    mv "$out/folded" "$file"
done
