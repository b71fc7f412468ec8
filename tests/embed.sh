#!/bin/sh
# embed.sh - `stdcl embed`: includes are embedded, with their lines; a file that does not compile is
# rejected.
#   usage: embed.sh STDCL
# SPDX-License-Identifier: MIT
set -eu
stdcl=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/inc" "$folder/src" "$folder/sub"
cd "$folder"

fail() {
    echo "$*"
    cat said
    exit 1
}

expect() { # expect STATUS TEXT COMMAND...
    status=$1 text=$2 got=0
    shift 2
    "$@" >said 2>&1 || got=$?
    [ $got -eq "$status" ] || fail "'$*' ends with $got instead of $status:"
    [ -z "$text" ] || grep -Eqe "$text" said || fail "'$*' does not say '$text':"
}

text() { # text FILE.c: the source that it holds
    awk '/^static const unsigned char source_0/ { on = 1; next } on && /^0};/ { exit } on' "$1" | tr -d '\n' | tr ',' '\n' |
        awk '{ printf "%c", $1 }'
}

# A header next to the source that includes others, by quotes and by -I; one is included twice, one
# is skipped, and one is in a comment. A header that the compiler would find in the working
# directory only is found as well.
printf '#pragma once\n#include "b.h"\n#define A (B + 1)\n' >src/a.h
printf '#ifndef B_H\n#define B_H\n#include "a.h" /* a circle */\n#define B 40\n#endif' >inc/b.h
printf '#error not this one\n' >src/no.h
printf 'int two(void) { return 2; }\n' >src/two.h
cat >src/k.cl <<'K'
/* kernels
#include "no.h"
*/
#include "a.h"
#include "a.h" /* again, over
   two lines */
#if 0
#include "no.h"
#else
#  include <two.h>
#endif
#include <stdcl.h>
kernel void f(global int *x) { x[0] = A + two() + __LINE__; }
K
expect 1 'src/a.h:2.*b.h' "$stdcl" embed src/k.cl -o k.c
[ ! -e k.c ] || fail "there is a file though it was refused"
expect 0 '' "$stdcl" embed src/k.cl -I inc/ -I src -o k.c
[ ! -s said ] || grep -q warning said || fail "it says something:"
text k.c >flat.cl
grep -q 'kernel void f' flat.cl || fail "the source is not there"
! grep -q '"[ab].h"$' flat.cl || fail "an include is left:"
# The embedded text is complete, and lines keep their numbers: the appended line is line 14.
mkdir alone && sed '$a\
kernel void size(global int *x) { int a[A == 41 ? 1 : -1], line[__LINE__ == 14 ? 1 : -1]; x[0] = sizeof a + sizeof line; }' \
    flat.cl >alone/k.cl
(cd alone && "$stdcl" check k.cl) >said 2>&1 || fail "what was embedded is not what was written"
expect 1 'src/two.h:2' sh -c "echo 'int three(void) { return THREE; }' >>src/two.h; '$stdcl' embed src/k.cl -I inc -I src -o k.c"

# Byte order marks, in front of a file and of an included file, are not embedded.
printf '\357\273\277#define M 3\n' >mark.h
printf '\357\273\277#include "mark.h"\nkernel void m(global int *x) { x[0] = M; }\n' >mark.cl
expect 0 '' "$stdcl" embed mark.cl -o mark.c
text mark.c >marked.cl
! LC_ALL=C grep -q "$(printf '\357\273\277')" marked.cl || fail "a byte order mark is left:"
grep -q '#define M 3' marked.cl || fail "the include is missing:"

# Called like a compiler: an object of the file's name, here.
printf 'kernel void g(global int *x) { x[0] = 1; }\n' >sub/g.cl
printf 'kernel void h(global int *x) { x[0] = 1; }\n' >h.cl
expect 0 '' "$stdcl" embed -c sub/g.cl h.cl
[ -s g.o ] && [ -s h.o ] || fail "objects are missing"
expect 0 '' "$stdcl" embed -c sub/g.cl -o sub/other.o
[ -s sub/other.o ] || fail "the object is missing"

# Binaries; templates.
expect 0 '' "$stdcl" embed --binary h.cl -o b.c
grep -q '{&sources\[0\], ".*driver .*", binary_0, [0-9]*, 0},' b.c || fail "there is no binary"
printf '|for i = 0, 1 do\nkernel void t${i}(global int *x) { x[0] = ${i}; }\n|end\n' >t.clt
expect 0 '' "$stdcl" embed -c t.clt
printf '#include "h.cl"\n' >>t.clt
expect 1 "t.clt:4: a template cannot include 'h.cl'" "$stdcl" embed -c t.clt

# Without a device, and without compiling. (For a missing folder some loaders use their default.)
mkdir none
expect 0 'warning: this machine has no OpenCL device' env OCL_ICD_VENDORS="$PWD/none" OCL_ICD_FILENAMES= "$stdcl" embed -c h.cl
expect 1 'no OpenCL platform' env OCL_ICD_VENDORS="$PWD/none" OCL_ICD_FILENAMES= "$stdcl" embed --binary -c h.cl
printf 'kernel void n(global int *x) { x[0] = N; }\n' >n.cl
expect 1 'n.cl:1' "$stdcl" embed -c n.cl
ln -s /dev/zero endless.cl
expect 1 "cannot read 'endless.cl': it is a device" "$stdcl" embed -c endless.cl
expect 0 '' "$stdcl" embed --no-compile -c n.cl
