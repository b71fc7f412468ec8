# man3.awk - the manual pages of the functions, from the comments and declarations of a public header.
#   usage: awk -v dir=DIR -v date='November 22, 2026' -v version=1.0.0 -v header=stdcl/life.h -f mdoc.awk -f man3.awk HEADER
#
# A comment at the left margin and the declarations below it, up to the next blank line, make one page, named after the
# first function; DIR/links has a line "PAGE NAME" for each further function there. Declarations without a comment
# belong to the previous page. The comment at the top of the header, and types and constants, make the overview: stdcl(3) of
# stdcl.h, stdcl_life(3) of stdcl/life.h.
# SPDX-License-Identifier: MIT

BEGIN {
    overview = header
    gsub(/\//, "_", overview)
    sub(/\.h$/, "", overview)
}

# ---- From a comment to mdoc: paragraphs; indented lines are literal.

function prose(comment,    n, line, i, text, out, literal) {
    n = split(comment, line, "\n")
    for (i = 1; i <= n; i++) {
        sub(/ *\*\/ *$/, "", line[i])
        sub(/^(\/\*| \*) ?/, "", line[i])
        if (line[i] ~ /^SPDX/)
            continue
        if (line[i] ~ /^ /) {
            out = out paragraph(text) (literal ? "" : ".Bd -literal -offset 2n -compact\n")
            text = ""
            literal = 1
            out = out plain(line[i]) "\n"
            continue
        }
        if (literal)
            out = out ".Ed\n"
        literal = 0
        if (line[i] ~ /^$/) {
            out = out paragraph(text) (i < n && (text != "" || out != "") ? ".Pp\n" : "")
            text = ""
        } else {
            text = text (text == "" ? "" : " ") line[i]
        }
    }
    out = out paragraph(text) (literal ? ".Ed\n" : "")
    while (sub(/\.Pp\n\.Pp\n/, ".Pp\n", out))
        ;
    sub(/\.Pp\n$/, "", out)
    return out
}
function paragraph(text) {
    return text == "" ? "" : sentences(text) "\n"
}

# The NAME line: the comment's first sentence, shortened at a clause.
function short(comment,    text) {
    text = comment
    gsub(/\n \* ?/, " ", text)
    gsub(/^\/\* ?| *\*\/ *$/, "", text)
    sub(/^(Not c|C)ollective[^.:]*[.:] /, "", text)
    if (match(text, /[^ .][.:;]( |$)/))
        text = substr(text, 1, RSTART)
    text = substr(text, 1, 1) ~ /[A-Z]/ && substr(text, 2, 1) ~ /[a-z ]/ ? tolower(substr(text, 1, 1)) substr(text, 2) : text
    if (length(text) > 120) { # the last clause that is whole, or else what does not end in a small word
        text = substr(text, 1, 120)
        if (match(text, /^.*, /) && RLENGTH > 40)
            text = substr(text, 1, RLENGTH - 2)
        else
            sub(/ +[^ ]*$/, "", text)
        while (sub(/[ ,]+(a|an|and|are|as|at|by|for|from|in|is|its|of|on|or|than|that|the|there|to|which|whose|with)$/, "", text))
            ;
    }
    gsub(/"/, "", text)
    sub(/[., ]+$/, "", text)
    if (gsub(/\(/, "&", text) > gsub(/\)/, "&", text)) # what it was about to say in parentheses
        sub(/ *\([^()]*$/, "", text)
    return text == "" ? "a call of " header : text
}

# ---- A group of declarations.

# The function or function-like macro that a declaration names, or "".
function name_of(text,    t) {
    t = text
    if (t ~ /^#define [a-z]/) {
        sub(/^#define /, "", t)
        return match(t, /^[a-z_0-9]+/) ? substr(t, 1, RLENGTH) : ""
    }
    if (t ~ /^(typedef|#)/ || (index(t, "{") && index(t, "{") < index(t, "(")) || !match(t, /[a-z_][a-zA-Z0-9_]* *\(/))
        return ""
    t = substr(t, RSTART, RLENGTH - 1)
    sub(/ +$/, "", t)
    return t
}

function end_group(    i, n, list) {
    if (declarations == "")
        return
    if (comment == "" && !fresh && names == "") { # what follows without a word of its own
        types = types declarations
        declarations = ""
        return
    }
    if (names == "") {
        overview_text = overview_text (comment != "" ? ".Pp\n" prose(comment) : "") \
            ".Bd -literal -offset 2n\n" declarations ".Ed\n"
    } else {
        n = split(names, list, " ")
        page = dir "/" list[1] ".3"
        head(page, list[1], 3)
        print ".Sh NAME" > page
        for (i = 1; i <= n; i++)
            printf ".Nm %s%s\n", list[i], i < n ? " ," : "" > page
        about = plain(short(comment))
        if (about ~ /[])]$/) # not a delimiter of mdoc
            about = about "\\&"
        printf ".Nd %s\n.Sh SYNOPSIS\n.In %s\n.Bd -literal\n%s.Ed\n", about, header, declarations > page
        printf ".Sh DESCRIPTION\n%s.Sh SEE ALSO\n.Xr %s 3\n", \
            comment != "" ? prose(comment) : "See\n.Xr " overview " 3 .\n", overview > page
        close(page)
        for (i = 2; i <= n; i++)
            print list[1], list[i] >> (dir "/links")
        for (i = 1; i <= n; i++)
            all[++functions] = list[i]
    }
    declarations = names = comment = ""
}

function declare(text,    name) {
    name = name_of(text)
    if (name != "" && name !~ /^__/ && !seen[name]++)
        names = names (names == "" ? "" : " ") name
    declarations = declarations plain_lines(text)
}
function plain_lines(text,    n, i, line, out) {
    n = split(text, line, "\n")
    for (i = 1; i <= n; i++)
        out = out plain(line[i]) "\n"
    return out
}

# ---- The header, line by line.

/nothing below is interface/ { end_group(); exit }
/^#ifdef (__cplusplus|__OPENCL_VERSION__)/ { skipping = 1; next }
/^#ifndef __cplusplus/ { next }
skipping && /^#(else|endif)/ { skipping = 0; next }
skipping { next }
in_comment {
    comment = comment "\n" $0
    if (/\*\//)
        in_comment = 0
    next
}
in_declaration {
    held = held "\n" $0
    if (macro ? !/\\$/ : inline ? /^}/ : /^[^ ].*;/ || (!braces && /;( *\/\*.*\*\/)?$/)) {
        in_declaration = 0
        if (inline)
            sub(/\n\{.*$/, ";", held)
        declare(held)
    }
    next
}
/^\/\* ----/ { end_group(); comment = ""; next }
/^\/\*/ {
    if (!about_read) {
        about_read = 1
    } else if (declarations != "") {
        end_group()
    }
    comment = comment (comment == "" ? "" : "\n *\n") $0
    in_comment = !/\*\//
    next
}
/^$/ {
    if (!top && comment != "" && declarations == "") {
        top = comment
        comment = ""
    }
    end_group()
    next
}
/^#define [A-Z0-9_]+$|^#(ifndef|if|include|endif|else|elif|undef|error)/ {
    if (!top && comment != "") {
        top = comment
        comment = ""
    }
    next
}
/^[A-Za-z#]/ {
    macro = /^#/
    inline = /^static inline/
    braces = /\{[^}]*$/
    if (macro ? /\\$/ : inline || !/;( *\/\*.*)?$/ || (braces && !/}.*;/)) {
        in_declaration = 1
        held = $0
    } else {
        declare($0)
    }
}

END {
    end_group()
    page = dir "/" overview ".3"
    head(page, overview, 3)
    title = short(top)
    sub(/^[^ ]+ - /, "", title)
    printf ".Sh NAME\n.Nm %s\n.Nd %s\n.Sh SYNOPSIS\n.In %s\n.Sh DESCRIPTION\n", overview, plain(title), header > page
    printf "%s%s.Sh SEE ALSO\n", prose(top), overview_text > page
    sort(all, functions)
    for (i = 1; i <= functions; i++)
        printf ".Xr %s 3%s\n", all[i], i < functions ? " ," : "" > page
}
