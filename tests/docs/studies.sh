#!/bin/sh
# studies.sh - every file of bench/studies is named in a document, a source file or another study, as
# the origin of a figure.
#   usage: studies.sh SOURCE_FOLDER
# SPDX-License-Identifier: MIT
set -u
cd "$1" || exit 1
bad=0 found=0
for file in bench/studies/*; do
    name=${file##*/}
    found=$((found + 1))
    grep -rqwF --exclude="$name" --include='*.md' --include='*.[ch]' --include='*.txt' \
        --include='*.json' -e "$name" ./*.md docs core profile tune arrays world nbody \
        life matmul gas view formats cli lua python bench tests/docs || {
        echo "$file: no document or source file names it; link its figure, or delete it"
        bad=1
    }
done
[ "$found" -ge 5 ] && exit $bad
echo "bench/studies: only $found files"
exit 1
