# completions.awk - shell completion for bash, zsh and fish, from the table of `stdcl --help=table`.
#   usage: awk -v dir=DIR -f completions.awk TABLE
# Writes DIR/stdcl.bash, DIR/_stdcl and DIR/stdcl.fish.
# SPDX-License-Identifier: MIT
BEGIN {
    FS = "\t"
    bash = dir "/stdcl.bash"
    zsh = dir "/_stdcl"
    fish = dir "/stdcl.fish"
}

# Kind of a value: "choice a b", "file", "device" or "text".
function value(kind, choices) {
    sub(/\?$/, "", kind)
    return kind == "choice" ? "choice " choices : kind
}
function zsh_text(text) {
    gsub(/[][\\:]/, "\\\\&", text)
    gsub(/'/, "'\\''", text) # last: its backslash is the shell's
    return text
}
function fish_text(text) {
    gsub(/\\/, "\\\\", text)
    gsub(/'/, "\\'", text)
    return text
}
# The first clause, for a menu.
function brief(text) {
    sub(/[;:(].*/, "", text)
    sub(/ +$/, "", text)
    return text
}
function action(kind, choices,    k) {
    k = value(kind, choices)
    if (k ~ /^choice /)
        return "(" substr(k, 8) ")"
    return k == "file" ? "_files" : k == "device" ? "(cpu gpu acc all)" : " "
}

$1 == "command" {
    name = $2
    names = names (names == "" ? "" : " ") name
    zsh_commands = zsh_commands sprintf("        '%s:%s'\n", name, zsh_text($3))
    fish_lines = fish_lines sprintf("complete -c stdcl -f -n __fish_use_subcommand -a %s -d '%s'\n", name, fish_text($3))
}
$1 == "option" {
    words = ($2 != "" ? "-" $2 : "") ($2 != "" && $3 != "" ? " " : "") ($3 != "" ? "--" $3 : "")
    options[name] = options[name] " " words
    if ($5 != "flag") {
        pattern = words
        gsub(/ /, "|", pattern)
        bash_case[name, ++cases[name]] = pattern
        bash_value[name, cases[name]] = value($5, $6)
    }
    split(words, each, " ")
    for (i in each) {
        spec = each[i] ($5 == "flag" ? "" : each[i] ~ /^--/ ? ($5 ~ /\?$/ ? "=-" : "=") : "+")
        zsh_options[name] = zsh_options[name] sprintf("            '*%s[%s]%s' \\\n", spec, zsh_text(brief($7)), \
            $5 == "flag" ? "" : ($5 ~ /\?$/ ? "::" : ":") zsh_text($4) ":" action($5, $6))
    }
    k = value($5, $6)
    fish_lines = fish_lines sprintf("complete -c stdcl -n '__fish_seen_subcommand_from %s'%s%s%s -d '%s'\n", name, \
        $2 != "" ? " -s " $2 : "", $3 != "" ? " -l " $3 : "", \
        $5 == "flag" || $5 ~ /\?$/ ? "" : k ~ /^choice / ? " -x -a '" substr(k, 8) "'" : k == "file" ? " -r -F" : \
        k == "device" ? " -x -a 'cpu gpu acc all'" : " -x", fish_text(brief($7)))
}

END {
    n = split(names, command, " ")
    note = "# Made from the command's own tables of options: do not edit.\n"

    printf "# Completion of stdcl in bash.\n%s_stdcl()\n{\n", note > bash
    print "    local cur prev command words= word" > bash
    print "    cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]}" > bash
    print "    [ \"$cur\" = = ] && cur=" > bash
    print "    [ \"$prev\" = = ] && prev=${COMP_WORDS[COMP_CWORD-2]}" > bash
    print "    if [ \"$COMP_CWORD\" -eq 1 ]; then" > bash
    printf "        COMPREPLY=($(compgen -W '%s --help --version' -- \"$cur\"))\n        return\n    fi\n", names > bash
    print "    case $command,$prev in" > bash
    for (i = 1; i <= n; i++)
        for (j = 1; j <= cases[command[i]]; j++) {
            m = split(bash_case[command[i], j], each, "|")
            pattern = ""
            for (l = 1; l <= m; l++)
                pattern = pattern (l > 1 ? "|" : "") command[i] "," each[l]
            k = bash_value[command[i], j]
            if (k ~ /^choice /)
                printf "    %s) COMPREPLY=($(compgen -W '%s' -- \"$cur\")); return ;;\n", pattern, substr(k, 8) > bash
            else if (k == "device")
                printf "    %s) COMPREPLY=($(compgen -W 'cpu gpu acc all' -- \"$cur\")); return ;;\n", pattern > bash
            else if (k == "file")
                printf "    %s) compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- \"$cur\")); return ;;\n", pattern > bash
            else if (k != "text")
                printf "    %s) return ;;\n", pattern > bash
        }
    print "    esac\n    case $command in" > bash
    for (i = 1; i <= n; i++)
        printf "    %s) words='%s --help' ;;\n", command[i], substr(options[command[i]], 2) > bash
    print "    esac\n    case $cur in" > bash
    print "    -*) COMPREPLY=($(compgen -W \"$words\" -- \"$cur\")) ;;" > bash
    print "    *) compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- \"$cur\")) ;;" > bash
    print "    esac\n}\ncomplete -F _stdcl stdcl" > bash

    printf "#compdef stdcl\n%s_stdcl()\n{\n    local -a commands\n    commands=(\n%s    )\n", note, zsh_commands > zsh
    print "    if (( CURRENT == 2 )); then\n        _describe command commands\n        return\n    fi" > zsh
    print "    local command=${words[2]}\n    shift words\n    (( CURRENT-- ))\n    case $command in" > zsh
    for (i = 1; i <= n; i++)
        printf "    %s)\n        _arguments -S \\\n%s            '--help[list the options]' '*:file:_files' ;;\n", command[i], \
            zsh_options[command[i]] > zsh
    print "    esac\n}\n_stdcl \"$@\"" > zsh

    printf "# Completion of stdcl in fish.\n%scomplete -c stdcl -n __fish_use_subcommand -l version -d 'print the version'\n%s", \
        note, fish_lines > fish
    print "complete -c stdcl -l help -d 'list the options'" > fish
}
