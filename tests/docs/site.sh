#!/bin/sh
# site.sh - build the site and check for broken links; the check itself must find one.
#   usage: site.sh SOURCE BUILD OUT PYTHON
# SPDX-License-Identifier: MIT
set -eu
source=$1 build=$2 out=$3 python=$4
for tool in mkdocs mandoc; do
    command -v $tool >/dev/null || { echo "$tool is not installed"; exit 77; }
done
# -S: without the packages of the system
! "$python" -S -B "$source/tools/site/make.py" "$source" "$build" "$out" 2>"$out.said" || { echo "a site without markdown"; exit 1; }
grep -q "no module 'markdown'; install" "$out.said" && rm "$out.said"
"$python" -B "$source/tools/site/make.py" "$source" "$build" "$out"
"$python" -B "$source/tools/site/check.py" "$out"
if command -v chromium >/dev/null; then
    "$python" -B "$source/tools/site/probe.py" "$out"
    ! "$python" -B "$source/tools/site/probe.py" "$out" no.html 2>/dev/null || { echo "a missing page passes"; exit 1; }
fi
# axe-core is of npm; `make deps-view` brings it into the build folder.
axe=${AXE:-$build/npm/node_modules/axe-core/axe.min.js}
if [ -e "$axe" ] && command -v chromium >/dev/null; then
    "$python" -B "$source/tools/site/axe.py" "$out" "$axe"
fi
if command -v chromium >/dev/null; then # opened as files, too, it finds pages
    found=$(timeout 300 chromium --headless --no-sandbox --disable-gpu --virtual-time-budget=10000 --dump-dom \
        "file://$out/index.html?q=clmalloc" 2>/dev/null | grep -c 'href="./man/clmalloc.3.html"') || true
    [ "$found" -gt 0 ] || { echo "the search does not find clmalloc's page"; exit 1; }
fi
mv "$out/man/clmalloc.3.html" "$out/man/elsewhere.html"
! "$python" -B "$source/tools/site/check.py" "$out" >"$out/said" 2>&1 || { echo "the check does not see a broken link"; exit 1; }
grep -q 'clmalloc.3.html is not there' "$out/said"
