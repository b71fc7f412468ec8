#!/bin/sh
# licence.sh SOURCE_FOLDER - every source names its licence; what git does not follow does not count.
# SPDX-License-Identifier: MIT
set -eu
cd "$1"
if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
    files() { git ls-files -co --exclude-standard "$@"; }
else
    echo "not a clone: git cannot tell which files are sources"
    exit 77
fi
bad=$(files '*.c' '*.h' '*.cpp' '*.hpp' '*.cl' '*.clt' '*.lua' '*.py' '*.sh' '*.awk' '*.cmake' '*CMakeLists.txt' Makefile |
    grep -v '^tests/fuzz/[a-z]*/' | while read -r file; do
    [ ! -s "$file" ] || grep -q 'SPDX-License-Identifier: MIT' "$file" || echo "$file"
done)
[ -z "$bad" ] || {
    echo "without a line 'SPDX-License-Identifier: MIT':"
    echo "$bad"
    exit 1
}
