#!/bin/sh
# deb.sh - build the Debian packages of the committed tree, and check them with lintian.
#   usage: tools/deb.sh OUT          OUT/ gets the source tarball and the packages
# DEB_BUILD_OPTIONS=nocheck skips the package's tests. `tools/deps.sh deb` installs the tools.
# SPDX-License-Identifier: MIT
set -eu
out=$1
top=$(cd "$(dirname "$0")/.." && pwd)
version=$(sed -n 's/^#define STDCL_VERSION "\(.*\)"$/\1/p' "$top/include/stdcl.h")
mkdir -p "$out"
out=$(cd "$out" && pwd)
rm -rf "$out/stdcl-$version"
"$top/tools/dist.sh" "$out"
mv "$out/stdcl-$version.tar.gz" "$out/stdcl_$version.orig.tar.gz"
(cd "$out" && tar xzf "stdcl_$version.orig.tar.gz")
cp -r "$top/debian" "$out/stdcl-$version/"
cd "$out/stdcl-$version"
dpkg-buildpackage -us -uc -ui
cd .. && lintian --profile debian --pedantic --fail-on error,warning --tag-display-limit 0 "stdcl_$version"*.changes
