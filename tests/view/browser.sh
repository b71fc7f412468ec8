#!/bin/sh
# browser.sh NODE NPM_FOLDER [node options] FILE... - run tests of the page in a browser, if a
# browser and its driver are installed.
# SPDX-License-Identifier: MIT
node=$1
export STDCL_NPM="$2"
shift 2
[ -x "${STDCL_CHROMIUM:=$(command -v chromium || command -v chromium-browser || command -v google-chrome)}" ] ||
    { echo "Chromium is not installed"; exit 77; }
export STDCL_CHROMIUM
for package in playwright-core axe-core ws; do
    [ -d "$STDCL_NPM/node_modules/$package" ] || { echo "npm's $package is not in the build folder ('make deps-view')"; exit 77; }
done
exec sh "$(dirname "$0")/node.sh" "$node" "$@"
