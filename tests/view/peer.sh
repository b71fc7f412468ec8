#!/bin/sh
# peer.sh NODE NPM_FOLDER - run peer.test.mjs, if npm's ws is installed.
# SPDX-License-Identifier: MIT
export STDCL_NPM="$2"
[ -d "$STDCL_NPM/node_modules/ws" ] || { echo "npm's ws is not in the build folder ('make deps-view')"; exit 77; }
exec sh "$(dirname "$0")/node.sh" "$1" "$(dirname "$0")/peer.test.mjs"
