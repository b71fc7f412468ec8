#!/bin/sh
# sbom.sh - the software bill of materials, SPDX 2.1 tag-value: every file of the source with its licence, checksum and copyright
# holder (by reuse, a Debian package), and the packages that a build links with, in the versions that are installed here.
#   usage: tools/sbom.sh OUT_FOLDER
# SPDX-License-Identifier: MIT
set -eu
mkdir -p "$1"
out=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."
command -v reuse >/dev/null || { echo "sbom.sh: reuse is not installed (package reuse)" >&2; exit 77; }
version=$(sed -n 's/^#define STDCL_VERSION "\(.*\)"$/\1/p' include/stdcl.h)
file=$out/stdcl-$version.spdx
commit=$(git rev-parse HEAD)
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
git archive --prefix="stdcl-$version/" "$commit" | tar x -C "$tree"
date=$(TZ=UTC git show -s --date=format-local:%Y-%m-%dT%H:%M:%SZ --format=%cd "$commit")
# The same commit gives the same bytes: the document is named and dated by it.
reuse --root "$tree/stdcl-$version" spdx 2>"$tree/said" |
    sed -e "s|^DocumentNamespace: .*|DocumentNamespace: urn:stdcl:$commit|" -e "s|^Created: .*|Created: $date|" >"$file" ||
    { cat "$tree/said" >&2; exit 1; }
for module in OpenCL jansson libpng hdf5 libwebsockets zlib luajit; do
    found=$(pkg-config --modversion "$module" 2>/dev/null) || continue
    printf '\nPackageName: %s\nSPDXID: SPDXRef-linked-%s\nPackageVersion: %s\nPackageDownloadLocation: NOASSERTION\n' \
        "$module" "$module" "$found"
    printf 'FilesAnalyzed: false\nRelationship: SPDXRef-DOCUMENT DEPENDS_ON SPDXRef-linked-%s\n' "$module"
done >>"$file"
echo "$file: $(grep -c '^FileName:' "$file") files, $(grep -c '^PackageName:' "$file") packages linked with"
