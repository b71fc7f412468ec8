# common.sh - helpers of run.sh and devices.sh: a results file is written completely, from one run,
# or not at all.
#   needs build=BUILD_FOLDER device=DEVICE; COMMIT=... names the commit built, if the folder is not
#   a clone
# shellcheck shell=sh
# SPDX-License-Identifier: MIT
here=$(dirname "$0")
lines=$(mktemp)
failed=$(mktemp)
trap 'rm -f "$lines" "$failed"' EXIT

# bench PROGRAM OPTION...: print the command as a heading and run it.
bench() {
    program=$1
    shift
    [ -x "$build/bench/$program" ] || return 0
    echo "@ $program --device $device $*"
    "$build/bench/$program" --device "$device" "$@" || echo "$program $*" >> "$failed"
}

# Print the value of the first word KEY=VALUE or KEY="VALUE" among the lines, or of `KEY "VALUE"` or
# `KEY VALUE,` in a comment.
first_of() {
    sed -n "s/.*$1=\"\([^\"]*\)\".*/\1/p; t; s/.*$1=\([^ ]*\).*/\1/p; t; s/^#.*$1 \"\([^\"]*\)\".*/\1/p; t; s/^#.*$1 \([^,]*\),.*/\1/p" "$lines" | head -n 1
}

# Environment variables of drivers and libraries.
settings() {
    env | grep -E '^(POCL|STDCL|CUDA_VISIBLE|OMP|OPENBLAS|GOMP)[A-Z_]*=' | sort | tr '\n' ' ' | sed 's/ $//'
}

machine() {
    model=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)
    echo "${model:-$(uname -m)}, $(getconf _NPROCESSORS_ONLN) threads, $(uname -s) $(uname -r)"
}

# write_results NAME [COUNT]: COUNT devices
write_results() {
    [ "$(tail -n 1 "$lines")" = "# whole" ] || echo "$0 ended early" >> "$failed"
    if [ -s "$failed" ]; then
        sed 's/^/failed: /' "$failed" >&2
        echo "$0: nothing is written" >&2
        exit 1
    fi
    full=$(first_of device)
    mkdir -p "$here/results"
    awk -f "$here/results.awk" -v device="${2:+$2 x }${full:-$device}" -v driver="$(first_of driver)" \
        -v machine="$(machine)" -v settings="$(settings)" -v date="$(date -u +%Y-%m-%d)" \
        -v commit="${COMMIT:-$(cd "$here" && git describe --always --dirty 2> /dev/null || echo unknown)}" \
        "$lines" > "$here/results/$1.json"
}
