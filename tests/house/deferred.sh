#!/bin/sh
# deferred.sh - fail if a program loads a large library at its start which only some features need: it must be opened at the first
# use (core/deferred.h), since loading it takes longer than a short run.
#   usage: deferred.sh PROGRAM...
# SPDX-License-Identifier: MIT
set -u
command -v readelf >/dev/null || { echo "readelf is not installed"; exit 77; }
status=0
for program; do
    [ -f "$program" ] || { echo "$program: no such file"; exit 1; }
    loaded=$(readelf -d "$program" | sed -n 's/.*NEEDED.*\[\(lib\(hdf5\|websockets\|ssl\|crypto\|curl\)[^]]*\)\].*/\1/p')
    [ -z "$loaded" ] || { echo "$program loads at its start:" $loaded; status=1; }
done
exit $status
