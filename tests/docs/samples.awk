# samples.awk - extract the code samples of Markdown pages, each into a file of its own.
#   awk -v dir=DIR -f samples.awk page.md...
#
# a block of C with a main:               DIR/PAGE-LINE.program.c
# any other block of C:                   DIR/PAGE-LINE.fragment.c, the body of a function after
# prelude.h
# a block that starts with a comment that names a file, as in "/* twice.cl - ...":  DIR/twice.cl
# a "text" block right after a program:   DIR/PAGE-LINE.output, the program's output
# The compiler's messages name the page and its line.
# SPDX-License-Identifier: MIT

FNR == 1 {
    page = FILENAME
    sub(/.*\//, "", page)
    sub(/\.md$/, "", page)
    language = program = ""
}

/^```/ && language == "" {
    language = substr($0, 4)
    if (language == "")
        language = "none"
    first = FNR + 1
    body = ""
    next
}

/^```/ {
    end_of_block()
    language = ""
    next
}

language != "" { body = body $0 "\n" }
language == "" && NF { program = "" } # text between a program and a block: not its output

function end_of_block(    name, file) {
    file = sprintf("%s/%s-%d", dir, page, first)
    if (language == "text" && program != "") {
        save(program ".output", body)
        program = ""
        return
    }
    program = ""
    name = body
    if (sub(/^\/\* /, "", name) && name ~ /^[a-z0-9_]+\.(c|cl) - /) {
        sub(/ .*/, "", name)
        sub(/\n.*/, "", name)
        save(dir "/" name, body)
    }
    if (language != "c" || name ~ /\.cl$/) # a kernel is compiled when its program runs
        return
    body = sprintf("#line %d \"%s\"\n%s", first, FILENAME, body)
    if (body ~ /int main\(/) {
        save(file ".program.c", body)
        program = file
    } else
        save(file ".fragment.c", sprintf("#include \"prelude.h\"\nFRAGMENT {\n%s}\n", body))
}

function save(file, content) {
    printf "%s", content > file
    close(file)
}
