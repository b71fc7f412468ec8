#!/bin/sh
# wheel.sh - make a wheel of the Python package, offline.
#   usage: tools/bindings/wheel.sh OUT              a wheel that uses the system's libraries, for every machine
#          tools/bindings/wheel.sh OUT PREFIX       a wheel with the libraries of `make install PREFIX`, for machines of this
#                                                   architecture with this or a newer C library; uses the machine's OpenCL loader
# Needs python3-build, python3-setuptools and python3-wheel, and patchelf for the second form. PYTHON=python3.
# SPDX-License-Identifier: MIT
set -eu
mkdir -p "$1"
out=$(cd "$1" && pwd)
prefix=${2:+$(cd "$2" && pwd)}
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -r python LICENSE "$work"
mv "$work/LICENSE" "$work/python"
find "$work" -name __pycache__ -prune -exec rm -r {} +

if [ -n "$prefix" ]; then
    package=$work/python/stdcl
    mkdir -p "$package/lib" "$package/share/stdcl"
    lib=$(dirname "$(find "$prefix" -name libstdcl.so.1)")
    cp "$lib"/libstdcl*.so.1 "$package/lib"
    strip --strip-unneeded "$package"/lib/*
    # Libraries that libstdcl needs, except the C library and OpenCL's loader.
    for needed in $(ldd "$lib/libstdcl.so.1" | sed -n 's/.* => \(.*\/lib\(jansson\|luajit\)[^ ]*\) .*/\1/p'); do
        cp -L "$needed" "$package/lib"
    done
    # shellcheck disable=SC2016 # the loader's word
    patchelf --set-rpath '$ORIGIN' "$package"/lib/*
    cp -r "$prefix/share/stdcl/include" "$prefix/share/stdcl/kernels" "$package/share/stdcl"
    glibc=$(getconf GNU_LIBC_VERSION | sed 's/.* \([0-9]*\)\.\([0-9]*\).*/\1_\2/')
    set -- "--config-setting=--build-option=--plat-name=manylinux_${glibc}_$(uname -m)"
else
    set --
fi
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)} \
    "${PYTHON:-python3}" -m build --wheel --no-isolation "$@" --outdir "$out" "$work/python" >"$work/said" 2>&1 ||
    { cat "$work/said" >&2; exit 1; }
sed -n 's/^Successfully built /wheel: /p' "$work/said"
