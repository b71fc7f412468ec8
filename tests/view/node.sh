#!/bin/sh
# node.sh NODE FILE... - run tests of the page in Node: 18 or later, for its decompression streams
# and node --test.
# SPDX-License-Identifier: MIT
node=$1
shift
"$node" -e 'process.exit(process.versions.node.split(".")[0] < 18 ? 1 : 0)' || { echo "Node is older than 18"; exit 77; }
exec "$node" --test "$@"
