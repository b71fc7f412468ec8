#!/bin/sh
# dist.sh - make the source of a release, stdcl-VERSION.tar.gz: the committed tree without debian/. Reproducible: one
# commit gives one sequence of bytes.
#   usage: tools/dist.sh OUT_FOLDER
# SPDX-License-Identifier: MIT
set -eu
out=$1
cd "$(dirname "$0")/.."
version=$(sed -n 's/^#define STDCL_VERSION "\(.*\)"$/\1/p' include/stdcl.h)
git archive --prefix="stdcl-$version/" HEAD -- . ':!debian' | gzip -9n >"$out/stdcl-$version.tar.gz"
