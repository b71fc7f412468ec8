#!/bin/sh
# format.sh - apply .clang-format to every C, C++ and OpenCL C file that git tracks, or check it.
#
#   tools/format.sh         rewrite the files that differ
#   tools/format.sh check   list them, and fail if there are any; exit with 77 without clang-format 14
#
# Other versions of clang-format break lines in other places, so only version 14 counts. It does not
# wrap comments, because that would tear tables and drawings: the check lists comments over 100
# columns, and lines of Markdown outside tables and code. Addresses of links do not count there, nor
# does a line that is one code span.
# SPDX-License-Identifier: MIT
set -eu
cd "$(dirname "$0")/.."

formatter=
for name in clang-format-14 clang-format; do
    case $($name --version 2>/dev/null) in
    *' version 14.'*) formatter=$name && break ;;
    esac
done
if [ -z "$formatter" ]; then
    echo "format.sh: clang-format 14 is not installed; 'make deps' installs it where the system has it"
    exit 77
fi
if ! git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
    echo "format.sh: not a clone, so sources cannot be told from generated files"
    exit 77
fi

set -- "${1:-apply}"
action=-i
[ "$1" = check ] && action='--dry-run -Werror'
jobs=$(getconf _NPROCESSORS_ONLN)
if [ "$1" = check ]; then
    # docs/options.md is generated. Bytes 200 to 277 (octal) continue a character of UTF-8.
    # shellcheck disable=SC2016 # the shell expands no $0
    long=$(
        git ls-files -z '*.c' '*.h' '*.cpp' '*.hpp' '*.cl' | LC_ALL=C xargs -0 awk '
            length > 100 && /^ *(\/\*|\*|\/\/)/ {
                gsub(/[\200-\277]/, "")
                if (length > 100)
                    print FILENAME ":" FNR ": a comment of " length " columns"
            }'
        git ls-files -z '*.md' ':!docs/options.md' | LC_ALL=C xargs -0 awk '
            FNR == 1 { fenced = 0 }
            /^ *```/ { fenced = !fenced }
            fenced || /^(    |\|)/ { next }
            {
                text = $0
                gsub(/[\200-\277]/, "", text)
                gsub(/\]\([^)]*\)/, "]", text)
                words = text
                gsub(/`[^`]*`/, "", words)
            }
            length(text) > 100 && words ~ /[^ ] / { print FILENAME ":" FNR ": a line of " length(text) " columns" }'
    )
    [ -z "$long" ] || { echo "$long"; exit 1; }
fi
# shellcheck disable=SC2086 # two words
git ls-files -z '*.c' '*.h' '*.cpp' '*.hpp' '*.cl' | xargs -0 -P "$jobs" -n 16 $formatter $action
