#!/bin/sh
# make.sh - rewrite the declarations for other languages and the Debian packages' symbols from the headers and version
# maps; with `check`, fail if they are out of date.
#   usage: tools/bindings/make.sh [check]          CC=cc PYTHON=python3
# SPDX-License-Identifier: MIT
set -eu
cd "$(dirname "$0")/../.."
for python in "${PYTHON:-python3}" /usr/bin/python3; do # the system's has the packages
    "$python" -c 'import pycparser' 2>/dev/null && break
done
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT

symbols() { # symbols PACKAGE: its libraries' symbols; the node in the map names the release of a symbol
    for map in core/stdcl.map [!c]*/*.map; do
        name=$(basename "$map" .map)
        case $map in
        core/stdcl.map) library=libstdcl ;;
        "$name/$name.map") library=libstdcl_$name ;;
        *) continue ;;
        esac
        case $library in
        libstdcl_view) owner=libstdcl-view1 ;;
        *) owner=libstdcl1 ;;
        esac
        [ "$owner" = "$1" ] || continue
        printf '%s.so.1 %s #MINVER#\n* Build-Depends-Package: libstdcl-dev\n' "$library" "$owner"
        awk '/^STDCL_/ { node = $1; version = substr(node, 7) ".0"; print " " node "@" node " " version }
             /^ +[a-z][a-z0-9_]*;$/ { print " " substr($1, 1, length($1) - 1) "@" node " " version }' "$map" | LC_ALL=C sort
    done
}

take() { # take NAME FILE CHECK: the made file is the committed one, or becomes it
    if [ "$3" != check ]; then
        cmp -s "$made/$1" "$2" || cat "$made/$1" >"$2"
    elif ! cmp "$made/$1" "$2"; then
        echo "a public header has changed: run 'make bindings'" >&2
        exit 1
    fi
}

"$python" -B tools/bindings/generate.py . "${CC:-cc}" "python=$made/py" "python-documentation=$made/doc" "fortran=$made/f90" "lua=$made/lua"
take py python/stdcl/_declarations.py "${1-}"
take doc python/stdcl/_documentation.py "${1-}"
take f90 include/stdcl.f90 "${1-}"
take lua lua/stdcl/declarations.lua "${1-}"
for package in libstdcl1 libstdcl-view1; do
    [ -d debian ] || continue # archives of a release have no debian/
    symbols "$package" >"$made/$package"
    take "$package" "debian/$package.symbols" "${1-}"
done
