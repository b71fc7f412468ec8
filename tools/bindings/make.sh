#!/bin/sh
# make.sh - rewrites the declarations for other languages, or tells whether they are what the headers say.
#   usage: tools/bindings/make.sh [check]          CC=cc PYTHON=python3
# SPDX-License-Identifier: MIT
set -eu
cd "$(dirname "$0")/../.."
made=$(mktemp)
trap 'rm -f "$made"' EXIT

make_one() { # make_one LANGUAGE FILE CHECK
    "${PYTHON:-python3}" -B tools/bindings/generate.py "$1" . "${CC:-cc}" >"$made"
    if [ "$3" != check ]; then
        cmp -s "$made" "$2" || cat "$made" >"$2"
    elif ! cmp "$made" "$2"; then
        echo "a public header has changed: run 'make bindings'" >&2
        exit 1
    fi
}

make_one python python/stdcl/_declarations.py "${1-}"
make_one fortran include/stdcl.f90 "${1-}"
make_one lua lua/stdcl/declarations.lua "${1-}"
