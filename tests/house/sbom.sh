#!/bin/sh
# sbom.sh - the bill of materials lists every file of the commit with its licence, and is
# reproducible.
#   usage: sbom.sh SOURCE
# SPDX-License-Identifier: MIT
set -eu
cd "$1"
command -v reuse >/dev/null || { echo "reuse is not installed"; exit 77; }
git rev-parse --is-inside-work-tree >/dev/null 2>&1 || { echo "not a clone: git cannot tell which files are sources"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tools/sbom.sh "$work/one"
tools/sbom.sh "$work/other"
cmp "$work"/one/*.spdx "$work"/other/*.spdx
files=$(git ls-tree -r --name-only HEAD | grep -vc -e '^LICENSE$' -e '^LICENSES/' -e '^\.reuse/')
listed=$(grep -c '^FileName:' "$work"/one/*.spdx)
empty=$(git ls-tree -rl HEAD | awk '$4 == 0' | wc -l)
[ "$listed" -ge $((files - empty)) ] || { echo "of $files files, $listed are listed"; exit 1; }
! grep -q '^LicenseConcluded: NONE\|^LicenseInfoInFile: NONE' "$work"/one/*.spdx || { echo "a file has no licence"; exit 1; }
