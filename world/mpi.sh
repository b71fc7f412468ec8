#!/bin/sh
# mpi.sh - builds the plugin for an MPI that was not found, or not by the names of Debian's: `make mpi MPICC=...`.
#   usage: mpi.sh MPICC BUILD
# It becomes world-site.so, which is used before the others, and which `make install` installs with them.
# SPDX-License-Identifier: MIT
set -eu
mpicc=$1 build=$2
here=$(dirname "$0")
libdir=$(sed -n 's/^CMAKE_INSTALL_LIBDIR:[A-Z]*=//p' "$build/CMakeCache.txt")
command -v "$mpicc" >/dev/null || {
    echo "make: there is no compiler '$mpicc'; name that of your MPI: make mpi MPICC=/opt/site/bin/mpicc" >&2
    exit 1
}
mkdir -p "$build/${libdir:-lib}/stdcl"
plugin=$build/${libdir:-lib}/stdcl/world-site.so
"$mpicc" -std=c11 -O2 -fPIC -shared -o "$plugin" "$here/world_mpi.c"
echo "$plugin is built; 'make install' installs it, and \$STDCL_MPI can name it where it is"
