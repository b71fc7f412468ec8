#!/bin/sh
# samples.sh - compile every code sample of the documents, run the programs among them, and compare
# their output with the page. Also check links within the repository.
#   usage: samples.sh SOURCE WORK CC LIBSTDCL.SO
# SPDX-License-Identifier: MIT
set -eu
source=$1 work=$2 cc=$3 library=$4
here=$source/tests/docs
bad=0 programs=0 fragments=0 slips=0

rm -rf "$work" && mkdir -p "$work" && cd "$work"
awk -v dir="$work" -f "$here/samples.awk" "$source"/*.md "$source"/docs/*.md

for header in stdcl.h $(cd "$source/include" && echo stdcl/*.h); do
    echo "#include <$header>"
done >headers.h

# The warnings of our own code, except those natural in a fragment.
warn="-Wall -Wextra -Wpedantic -Wshadow -Werror"
for fragment in ./*.fragment.c; do
    # shellcheck disable=SC2086 # flags are words
    "$cc" -std=gnu11 $warn -Wno-unused -Wno-unused-parameter -Wno-return-type -fsyntax-only \
        -I "$here" -I . -I "$source/include" "$fragment" || bad=1
    fragments=$((fragments + 1))
done

for program in ./*.program.c; do
    name=${program%.program.c}
    programs=$((programs + 1))
    # shellcheck disable=SC2086
    if ! "$cc" -std=gnu11 $warn -I "$source/include" -o "$name" "$program" \
        "$library" -Wl,-rpath,"${library%/*}"; then
        bad=1
        continue
    fi
    if ! "$name" >"$name.said" 2>&1; then
        echo "$name failed:"
        cat "$name.said"
        bad=1
    elif [ -e "$name.output" ] && ! diff "$name.output" "$name.said"; then
        echo "$name prints something else than its page says"
        bad=1
    fi
done

# Without a driver the programs of the first pages end with a sentence that names the remedy.
for program in ./README-*.program.c ./first-steps-*.program.c ./cookbook-*.program.c; do
    name=${program%.program.c}
    status=0
    OCL_ICD_VENDORS="$work/none" OCL_ICD_FILENAMES='' "$name" >"$name.said" 2>&1 || status=$?
    [ $status = 1 ] && grep -q "apt-get install pocl-opencl-icd" "$name.said" && continue
    echo "$name without a driver: status $status, and it prints"
    cat "$name.said"
    bad=1
done

# README's deliberate mistake: its program prints the message shown, and nothing else.
for program in ./README-*.program.c; do
    sed 's/2\.0f, x, y/2.0, x, y/' "$program" >slip.c
    cmp -s "$program" slip.c && continue
    "$cc" -std=gnu11 -I "$source/include" -o slip slip.c "$library" -Wl,-rpath,"${library%/*}" || bad=1
    slips=$((slips + 1))
    if ./slip >slip.said 2>&1 || ! grep -q "^saxpy: .*argument 0 of kernel saxpy is float a; a double of" slip.said ||
        [ "$(wc -l <slip.said)" != 1 ]; then
        echo "README's program with 2.0 for 2.0f does not fail with a sentence that says so:"
        cat slip.said
        bad=1
    fi
done

for page in "$source"/*.md "$source"/docs/*.md; do
    for link in $(grep -oE '\]\([^):#]+' "$page" | sed 's/^](//'); do
        [ "$link" = https ] || [ -e "${page%/*}/$link" ] && continue
        echo "$page: there is no $link"
        bad=1
    done
done

echo "$programs programs, $fragments fragments"
[ "$programs" -gt 0 ] && [ "$fragments" -gt 0 ] && [ "$slips" -eq 1 ] && exit $bad
