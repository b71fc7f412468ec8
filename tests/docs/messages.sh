#!/bin/sh
# messages.sh - the messages that docs/troubleshooting.md quotes in its headings exist in the source.
#   usage: messages.sh SOURCE_FOLDER
# SPDX-License-Identifier: MIT
set -u
cd "$1" || exit 1
bad=0 found=0
while IFS= read -r message; do
    found=$((found + 1))
    grep -rqF --include='*.[ch]' -e "$message" core cli nbody life matmul gas arrays || {
        echo "docs/troubleshooting.md: no file of the source has the message '$message'"
        bad=1
    }
done << LIST
$(sed -n 's/^### `\(.*\)`$/\1/p' docs/troubleshooting.md)
LIST
[ "$found" -ge 5 ] && exit $bad
echo "docs/troubleshooting.md: only $found headings with a message"
exit 1
