# results.awk - makes JSON of the benchmarks' "key=value" lines, for bench/results/DEVICE.json.
#
#   { bench_nbody ...; bench_life ...; } | awk -f bench/results.awk -v device="NVIDIA H200" -v date=2026-11-22 \
#       -v commit=1f642fd > bench/results/nvidia-h200.json
#
# Lines "@ command" name the command that the lines after it came from; a word in front of the first key names
# the case; lines without key=value words, and those that begin with #, are left out. Values in double quotes may hold blanks.
# SPDX-License-Identifier: MIT
BEGIN {
    printf "{\n \"device\": \"%s\",\n \"date\": \"%s\",\n \"commit\": \"%s\",\n \"rows\": [", device, date, commit
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
