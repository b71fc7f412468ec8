#!/bin/sh
# names.sh - a function's name is unique, so that a stack trace, a profile or grep -w finds it.
#   usage: names.sh SOURCE_FOLDER
#
# Non-static functions: no two files define the same name. Static ones and those of kernels: below
# 3 in 100 share their name with a function of another file. Not counted: main and libFuzzer's
# entry point, which every program defines; wrappers of OpenCL and libc, which must have the
# wrapped function's name; tests/legacy, programs of the historic interface; and serve_none.c,
# the variant of serve.c for builds without libwebsockets.
# SPDX-License-Identifier: MIT
set -eu
cd "$1"
[ -n "$(git ls-files README.md 2>/dev/null)" ] || {
    echo "not a clone: git cannot tell which files are sources"
    exit 77
}
# A definition begins in the first column, and so does the { of its body (.clang-format).
git ls-files '*.c' '*.h' '*.cl' '*.cpp' '*.hpp' | grep -v -e '^tests/legacy/' -e '^view/serve_none\.c$' | xargs awk '
    function define(text, file, kind, name) {
        gsub(/__attribute__ *\(\([^)]*(\([^)]*\))?[^)]*\)\) */, "", text)
        if (!match(text, /[A-Za-z_][A-Za-z_0-9]*\(/) || RSTART == 1)
            return
        name = substr(text, RSTART, RLENGTH - 1)
        if (name ~ /^(main|LLVMFuzzerTestOneInput|rename|cl[A-Z].*|__wrap_.*)$/)
            return
        if ((name, file) in seen)
            return
        seen[name, file] = 1
        total++
        files[name]++
        where[name] = where[name] " " file
        if (file ~ /\.c$/ && text !~ /(^| )static /) {
            shared[name]++
            defined[name] = defined[name] " " file
        }
    }
    FNR == 1 { text = "" }
    /^\{/ { if (text != "") define(text, FILENAME); text = ""; next }
    /^[A-Za-z_]/ { text = $0; if ($0 ~ /[;}=]/) text = ""; next }
    /^[#}\/]/ { text = ""; next }
    text != "" { text = text " " $0; if ($0 ~ /;/) text = "" }
    END {
        for (name in files) {
            if (shared[name] > 1) {
                print "defined in several files: " name defined[name]
                bad = 1
            }
            if (files[name] > 1) {
                repeated += files[name]
                list = list "\n  " files[name] " " name where[name]
            }
        }
        printf "%d functions, %d of them with the name of a function of another file\n", total, repeated
        if (total < 3000) {
            print "too few functions were found: does this script still match the form of definitions?"
            bad = 1
        }
        if (repeated * 100 >= 3 * total) {
            print "3 in 100 or more:" list
            bad = 1
        }
        exit bad
    }'
