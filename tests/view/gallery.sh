#!/bin/sh
# gallery.sh STDCL PAGE - test that a page of the gallery equals what `stdcl view -o` makes of its
# recording. The argument "write" after it rewrites the page.
# SPDX-License-Identifier: MIT
set -eu
stdcl=$1 page=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# The recording is the text of the elements of its class; the nonce differs from page to page.
tr -d '\n' <"$page" | grep -o 'class="recording">[^<]*<' | sed 's/.*>//; s/<//' | base64 -d >"$work/run.view"
"$stdcl" view "$work/run.view" -o "$work/now.html" --quiet
without_nonce() {
    nonce=$(sed -n 's/.*<style nonce="\([^"]*\)">.*/\1/p' "$1")
    awk -v nonce="$nonce" '{ while (i = index($0, nonce)) $0 = substr($0, 1, i - 1) "NONCE" substr($0, i + length(nonce)); print }' "$1"
}
without_nonce "$work/now.html" >"$work/now"
without_nonce "$page" >"$work/then"
if [ "${3-}" = write ]; then
    cmp -s "$work/now" "$work/then" || cp "$work/now.html" "$page"
elif ! cmp "$work/now" "$work/then"; then
    echo "the page of a run has changed: run tests/view/gallery.sh STDCL $page write" >&2
    exit 1
fi
