#!/bin/sh
# abi.sh - tests that the libraries offer all that abi/ has, and that tools/abi.sh sees a lost function and a grown struct.
#   usage: abi.sh SOURCE FOLDER_OF_LIBRARIES
# SPDX-License-Identifier: MIT
set -eu
source=$1 built=$2
sh "$source/tools/abi.sh" check "$built"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
refused() { # refused WHAT SED_SCRIPT: a baseline that was changed so differs from the library
    gzip -dc "$source/abi/libstdcl_nbody.abi.gz" >"$work/before"
    sed "$2" "$work/before" >"$work/after"
    ! cmp -s "$work/before" "$work/after" || { echo "the baseline has nothing to change for: $1"; exit 1; }
    gzip -n <"$work/after" >"$work/libstdcl_nbody.abi.gz"
    ! sh "$source/tools/abi.sh" check "$built" "$work" >"$work/said" || { echo "passes $1"; exit 1; }
    grep -q 'has changed for programs' "$work/said"
}
refused "a function that vanished" 's/nbody_time/nbody_tide/g'
refused "a struct that grew" "/class-decl name='nbody_diagnostics'/s/size-in-bits='[0-9]*'/size-in-bits='960'/"
