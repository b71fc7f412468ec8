# options.awk - docs/options.md, the options of every command, from the table that `stdcl --help=table` prints.
#   usage: awk -f options.awk TABLE          (make options)
# Common options are listed once, with the commands that have them.
# SPDX-License-Identifier: MIT
BEGIN {
    FS = "\t"
    print "# The options of every command\n"
    print "Made by `make options` from the tables that define the command's options, manual pages, `--help` and"
    print "the completions of shells. [The command](command.md) explains the options together."
}

function escaped(text) {
    gsub(/[|<>]/, "\\\\&", text)
    return text
}

function row() { # the option of this line as a row
    name = ($2 != "" && $3 != "" ? "-" $2 ", --" $3 : $3 != "" ? "--" $3 : "-" $2)
    return "| `" name ($4 == "" ? "" : (($5 ~ /\?$/) ? "[=" $4 "]" : " " $4)) "` | " escaped($7) " |"
}

function begin_table(title) {
    print "\n" (title == "" ? "" : "### " title "\n\n") "| option | meaning |\n| --- | --- |"
    listed = 1
}

$1 == "command" {
    command = $2
    printf "\n## stdcl %s\n\n%s%s.\n", command, toupper(substr($3, 1, 1)), substr($3, 2)
    listed = common = 0
}
$1 == "usage" && !used[command]++ { printf "\nUsage: stdcl %s %s\n", command, escaped($2) }
$1 == "group" {
    common = $2 == "Common options"
    listed = 0
    title = $2
}
$1 == "option" && common {
    if (!(row() in commands))
        order[++n] = row()
    commands[row()] = commands[row()] (commands[row()] == "" ? "" : ", ") command
}
$1 == "option" && !common {
    if (!listed)
        begin_table(title)
    print row()
}
$1 == "combination" {
    if (!combined[command]++)
        print "\n### Combinations of " command "\n"
    print "- " escaped($2)
}
$1 == "command" { title = "" }
END {
    print "\n## Common options\n\n| option | meaning | of |\n| --- | --- | --- |"
    for (i = 1; i <= n; i++)
        print order[i] " " commands[order[i]] " |"
}
