# fold.awk - fold text at 80 bytes, as mandoc recommends; requests and literal blocks are unchanged.
# SPDX-License-Identifier: MIT
/^\.Bd/ { literal = 1 }
/^\.Ed/ { literal = 0 }
!literal && /^\.Nd / { gsub(/`/, "") }
/^\./ || literal { print; next }
{
    while (match($0, /`[^`]+`/)) # words of the program are bold
        $0 = substr($0, 1, RSTART - 1) "\\fB" substr($0, RSTART + 1, RLENGTH - 2) "\\fR" substr($0, RSTART + RLENGTH)
    gsub(/\(\)/, "\\\\\\&()") # so that name() is no function that wants markup
    while (length($0) > 80) {
        for (at = 81; at > 1 && (substr($0, at, 1) != " " || substr($0, at + 1, 1) ~ /[.\047 ]/); at--)
            ;
        if (at == 1)
            break
        print substr($0, 1, at - 1)
        $0 = substr($0, at + 1)
    }
    print
}
