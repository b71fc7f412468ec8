#!/bin/sh
# untyped.sh - every argument of a kernel launch has a type: a value whose type has no name does not compile in a list of
# core/args.h, and no engine fills in a struct stdcl_arg by hand.
#   usage: untyped.sh ROOT COMPILER...
# SPDX-License-Identifier: MIT
set -eu
root=$1
shift

cat >"${TMPDIR:-/tmp}/untyped.$$.c" <<'EOF'
#include "core/args.h"
struct pair {
    int a, b;
};
void start(cl_uint nargs, const struct stdcl_arg *args);
void list(float x, struct pair pair, _Bool flag);
void list(float x, struct pair pair, _Bool flag)
{
    (void)x, (void)pair, (void)flag;
    start(ARGS(ARGUMENT));
}
EOF
trap 'rm -f "${TMPDIR:-/tmp}/untyped.$$.c"' EXIT

compiles() { # compiles ARGUMENT COMPILER...
    argument=$1
    shift
    "$@" -std=gnu11 -fsyntax-only -I "$root" -I "$root/include" "-DARGUMENT=$argument" "${TMPDIR:-/tmp}/untyped.$$.c"
}

for argument in 'x' 'AS("int2", pair)'; do
    compiles "$argument" "$@" || { echo "$argument does not compile as an argument" >&2; exit 1; }
done
for argument in 'pair' 'flag'; do
    if compiles "$argument" "$@" 2>/dev/null; then
        echo "$argument compiles as an argument, and has no type" >&2
        exit 1
    fi
done

cd "$root"
if grep -nE '\.kind = STDCL_|STDCL_(VALUE|GLOBAL|LOCAL)\b' arrays/*.[ch] gas/*.[ch] life/*.[ch] matmul/*.[ch] nbody/*.[ch] nbody/*/*.[ch]; then
    echo "make arguments with the macros of core/args.h" >&2
    exit 1
fi
