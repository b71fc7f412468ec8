#!/bin/sh
# dist.sh - the source of a release, stdcl-VERSION.tar.gz: what is committed, without debian/. The same commit gives the same
# bytes.
#   usage: tools/dist.sh OUT_FOLDER
# SPDX-License-Identifier: MIT
set -eu
out=$1
cd "$(dirname "$0")/.."
version=$(sed -n 's/^#define STDCL_VERSION "\(.*\)"$/\1/p' include/stdcl.h)
git archive --prefix="stdcl-$version/" HEAD -- . ':!debian' | gzip -9n >"$out/stdcl-$version.tar.gz"
