#!/bin/sh
# abi.sh - test that the libraries offer everything in abi/, and that tools/abi.sh detects a removed
# function and a grown struct. Until the version is released (CHANGELOG.md), the interface may
# change: a difference is then reported without failing.
#   usage: abi.sh SOURCE FOLDER_OF_LIBRARIES
# SPDX-License-Identifier: MIT
set -eu
source=$1 built=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
version=$(sed -n 's/^#define STDCL_VERSION "\(.*\)"$/\1/p' "$source/include/stdcl.h")
status=0
sh "$source/tools/abi.sh" check "$built" || status=$?
[ $status != 77 ] || exit 77
[ $status = 0 ] || grep -qxF "## $version (not released yet)" "$source/CHANGELOG.md" || exit 1

# Baselines of these libraries pass; with a defect they fail.
mkdir "$work/right"
sh "$source/tools/abi.sh" write "$built" "$work/right"
sh "$source/tools/abi.sh" check "$built" "$work/right"
refused() { # refused WHAT SED_SCRIPT: a baseline that was changed so differs from the library
    gzip -dc "$work/right/libstdcl_nbody.abi.gz" >"$work/before"
    sed "$2" "$work/before" >"$work/after"
    ! cmp -s "$work/before" "$work/after" || { echo "the baseline has nothing to change for: $1"; exit 1; }
    mkdir -p "$work/wrong"
    gzip -n <"$work/after" >"$work/wrong/libstdcl_nbody.abi.gz"
    ! sh "$source/tools/abi.sh" check "$built" "$work/wrong" >"$work/said" || { echo "passes $1"; exit 1; }
    grep -q 'has changed for programs' "$work/said"
}
refused "a function that vanished" 's/nbody_time/nbody_tide/g'
refused "a struct that grew" "/class-decl name='nbody_diagnostics'/s/size-in-bits='[0-9]*'/size-in-bits='960'/"
