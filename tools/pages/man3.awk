# man3.awk - the manual pages of the functions, from the comments and declarations of a public header.
#   usage: awk -v dir=DIR -v date='November 22, 2026' -v version=1.0.0 -v header=stdcl/life.h -v blocks=FILE
#              -f mdoc.awk -f man3.awk HEADER
#
# A comment at the left margin and the declarations below it, up to the next blank line, make one page, named after the
# first function; DIR/links has a line "PAGE NAME" for each further function there. Declarations without a comment
# belong to the previous page. RETURN VALUES and ERRORS repeat the comment's sentences on these, or state the header's
# conventions. EXAMPLES has the preferred or else the shortest block of the documents (examples.awk) that calls a
# function of the page. The synopsis of a macro is the prototype that its comment begins with, if there is one.
# The comment at the top of the header, and types and constants, make the overview: stdcl(3) of
# stdcl.h, stdcl_life(3) of stdcl/life.h.
# SPDX-License-Identifier: MIT

BEGIN {
    overview = header
    gsub(/\//, "_", overview)
    sub(/\.h$/, "", overview)
    while (blocks != "" && (getline line < blocks) > 0)
        if (line == "\f")
            block_length[++block_count] += gsub(/\n/, "\n", block[block_count])
        else if (line == "\v")
            block_length[block_count + 1] = -100
        else
            block[block_count + 1] = block[block_count + 1] line "\n"
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

# ---- Sections from sentences.

# The sentences of a comment that match a pattern, joined by blanks. Indented lines are left out: a sentence ends there,
# and with its paragraph. A colon before them becomes a reference to DESCRIPTION.
function matching(comment, pattern,    text, n, i, part, out) {
    text = comment
    gsub(/\n \*  [^\n]*/, "\f", text)
    gsub(/\n \*(\n|$)/, "\f\n", text)
    gsub(/\f\n \* /, "\f", text)
    gsub(/\n \* ?/, " ", text)
    gsub(/^\/\* ?| *\*\/ *$/, "", text)
    gsub(/[.] +/, ".\f", text)
    n = split(text, part, "\f")
    for (i = 1; i <= n; i++)
        if (part[i] ~ pattern) {
            sub(/:$/, " (see DESCRIPTION).", part[i])
            out = out (out == "" ? "" : " ") part[i]
        }
    return out
}

# The kind of a function's result by its declaration: int, pointer, event, void or other.
function kind_of(declaration, name,    before) {
    before = substr(declaration, 1, index(declaration, name) - 1)
    return before ~ /\*$/ ? "pointer" : before ~ /(^|[^a-z_])int $/ ? "int" : before ~ /cl_event $/ ? "event" \
        : before ~ /(^|[^a-z_])void $/ ? "void" : "other"
}

function returns(comment, kinds,    said) {
    said = matching(comment, "^[^a-z]*Returns? |[;:,] returns? | and returns? |^True if|^\\((cl_event|size_t)\\)-1|^-1 |^0 if|^NULL (if|on|with|after|at)")
    if (said != "" && kinds ~ /pointer/ && said !~ /NULL/ && comment ~ /[^A-Za-z_]E[A-Z][A-Z][A-Z]+/)
        return said " NULL on failure, with clerrno set."
    if (said != "")
        return said
    if (kinds ~ /int/ && kinds ~ /pointer/)
        return "int functions return 0, or -1 with clerrno set. Pointer functions return NULL on failure, with clerrno set."
    said = kinds ~ /int/ ? "0, or -1 with clerrno set." : ""
    said = said (kinds ~ /pointer/ ? (said == "" ? "" : " ") "NULL on failure, with clerrno set." : "")
    said = said (kinds ~ /event/ ? (said == "" ? "" : " ") "(cl_event)-1 on failure, with clerrno set." : "")
    return said != "" ? said : kinds ~ /^( void)+$/ ? "None." : matching(comment, ".")
}

function errors(comment, kinds,    said) {
    said = matching(comment, "(^|[^A-Za-z_])E[A-Z][A-Z][A-Z]+")
    if (said != "" || kinds ~ /^( void| other)*$/)
        return said
    return "clerror() returns the message."
}

# The shortest block that calls one of the functions, or "".
function example(names,    i, n, list, b, best, code) {
    n = split(names, list, " ")
    for (b = 1; b <= block_count; b++)
        for (i = 1; i <= n; i++)
            if (match(block[b], "(^|[^a-z_])" list[i] "\\(") && (!best || block_length[b] < block_length[best]))
                best = b
    code = best ? block[best] : ""
    sub(/\n+$/, "", code)
    return code
}

function section(title, text) {
    if (text != "")
        printf ".Sh %s\n%s\n", title, sentences(text) > page
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
        printf ".Sh DESCRIPTION\n%s", comment != "" ? prose(comment) : "See\n.Xr " overview " 3 .\n" > page
        section("RETURN VALUES", returns(comment, kinds))
        code = example(names)
        if (code != "")
            printf ".Sh EXAMPLES\n.Bd -literal\n%s.Ed\n", plain_lines(code) > page
        section("ERRORS", errors(comment, kinds))
        printf ".Sh SEE ALSO\n.Xr %s 3\n", overview > page
        close(page)
        for (i = 2; i <= n; i++)
            print list[1], list[i] >> (dir "/links")
        for (i = 1; i <= n; i++)
            all[++functions] = list[i]
    }
    declarations = names = comment = kinds = ""
}

function declare(text,    name) {
    name = name_of(text)
    if (name != "" && name !~ /^__/ && !seen[name]++)
        names = names (names == "" ? "" : " ") name
    if (name != "" && text ~ /^#define/ && match(comment, "[^\n]*[ *]" name "\\([^;]*\\);\n")) {
        text = substr(comment, RSTART, RLENGTH - 1)
        comment = substr(comment, 1, RSTART - 1) substr(comment, RSTART + RLENGTH)
        sub(/^[\n *]+/, "/* ", comment)
        gsub(/(^|\n)(\/\*| \*) ?/, "\n", text)
        sub(/^\n+/, "", text)
    }
    if (name != "")
        kinds = kinds " " kind_of(text, name)
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
