#!/bin/sh
# licence.sh SOURCE_FOLDER - every source names its licence; files outside of git do not count.
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
    grep -v '^tests/fuzz/[a-z]*/' | tr '\n' '\0' | xargs -0 sh -c 'find "$@" -size +0' - |
    tr '\n' '\0' | xargs -0 grep -L 'SPDX[-]License-Identifier: MIT') || true
[ -z "$bad" ] || {
    echo 'without a line of the licence, as the other files have it:'
    echo "$bad"
    exit 1
}
if command -v reuse >/dev/null; then # every file has a licence and a copyright holder, by the REUSE specification
    said=$(reuse lint 2>&1) || bad=1
    case $said in *ERROR*) bad=1 ;; esac # such as a line that it takes for a licence
    [ -z "$bad" ] || { echo "$said"; exit 1; }
fi
