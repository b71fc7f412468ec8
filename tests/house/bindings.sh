#!/bin/sh
# bindings.sh - tests that the declarations for other languages are those of the headers.
#   usage: bindings.sh SOURCE PYTHON CC
# SPDX-License-Identifier: MIT
set -eu
source=$1 python=$2 cc=$3
made=$(mktemp)
trap 'rm -f "$made"' EXIT
"$python" "$source/tools/bindings/generate.py" "$source" "$cc" >"$made"
cmp "$made" "$source/python/stdcl/_declarations.py" || {
    echo "a public header has changed: run 'make bindings'" >&2
    exit 1
}
