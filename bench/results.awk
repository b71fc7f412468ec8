# results.awk - convert the benchmarks' "key=value" lines to JSON, for bench/results/DEVICE.json.
#
#   { bench_nbody ...; bench_life ...; } | awk -f bench/results.awk -v device="NVIDIA H200" -v driver=580.159.04 \
#       -v machine="..." -v settings="POCL_AFFINITY=1" -v date=2026-11-22 -v commit=1f642fd > bench/results/nvidia-h200.json
#
# Every entry of a file belongs to one run: this device and machine, this driver, these environment
# variables, this commit. Each entry has its command line. Lines "@ command" name the command of the
# lines after it; a word before the first key names the case; lines without key=value words, and
# those that begin with #, are ignored. Values in double quotes may hold blanks.
# SPDX-License-Identifier: MIT
BEGIN {
    printf "{\n \"device\": \"%s\",\n \"driver\": \"%s\",\n \"machine\": \"%s\",\n", device, driver, machine
    printf " \"settings\": \"%s\",\n \"date\": \"%s\",\n \"commit\": \"%s\",\n \"rows\": [", settings, date, commit
}
/^@ / {
    command = substr($0, 3)
    gsub(/\\/, "\\\\", command)
    gsub(/"/, "\\\"", command)
    next
}
/^#/ { next }
{
    row = $1 ~ /=/ ? "" : "\"case\": \"" $1 "\""
    rest = $0
    while (match(rest, /[A-Za-z_][A-Za-z_0-9]*=("[^"]*"|[^ ]*)/)) {
        word = substr(rest, RSTART, RLENGTH)
        rest = substr(rest, RSTART + RLENGTH)
        at = index(word, "=")
        key = substr(word, 1, at - 1)
        value = substr(word, at + 1)
        if (key ~ /^(commit|driver|device)$/) # the file's own
            continue
        if (value !~ /^"/ && value !~ /^[-+]?[0-9][0-9]*(\.[0-9]+)?([eE][-+]?[0-9]+)?$/)
            value = "\"" value "\""
        row = row (row == "" ? "" : ", ") "\"" key "\": " value
    }
    if (row ~ /, |": [^,]*$/ && $0 ~ /=/)
        printf "%s\n  {\"command\": \"%s\", %s}", (rows++ ? "," : ""), command, row
}
END {
    printf "\n ]\n}\n"
}
