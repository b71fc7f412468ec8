# man1.awk - the manual pages of the command, from the table that `stdcl --help=table` prints.
#   usage: awk -v dir=DIR -v date='November 22, 2026' -v version=1.0.0 -f mdoc.awk -f man1.awk TABLE
# Writes DIR/stdcl.1 and DIR/stdcl-NAME.1 for each command.
# SPDX-License-Identifier: MIT
BEGIN { FS = "\t" }

function sections(    file) {
    if (!name)
        return
    if (listed)
        print ".El" > page
    printf ".Sh EXIT STATUS\n0 done, 1 failed, 2 wrong usage, 130 ended by Ctrl\\-C.\n" > page
    if (examples != "")
        printf ".Sh EXAMPLES\n.Bd -literal -offset indent\n%s.Ed\n", examples > page
    printf ".Sh SEE ALSO\n.Xr stdcl 1 ,\n.Xr stdcl\\-environment 7\n" > page
    close(page)
}

$1 == "command" {
    sections()
    name = $2
    page = dir "/stdcl-" name ".1"
    commands[++n] = name
    summary[name] = $3
    examples = ""
    listed = 0
    head(page, "stdcl-" name, 1)
    printf ".Sh NAME\n.Nm stdcl\\-%s\n.Nd %s\n", name, plain($3) > page
}
$1 == "usage" { printf ".Sh SYNOPSIS\n.Nm stdcl %s\n%s\n", name, plain($2) > page }
$1 == "about" { printf ".Sh DESCRIPTION\n%s\n", sentences($2) > page }
$1 == "group" {
    if (listed)
        print ".El" > page
    printf ".Ss %s\n.Bl -tag -width Ds\n", plain($2) > page
    listed = 1
}
$1 == "option" {
    if (!listed)
        print ".Bl -tag -width Ds" > page
    listed = 1
    item = $2 != "" ? "Fl " $2 ($3 != "" ? " , " : "") : ""
    item = item ($3 != "" ? "Fl \\&-" plain($3) : "")
    if ($4 != "" && $5 ~ /\?$/)
        item = item " Ns Op = Ns Ar " $4
    else if ($4 != "")
        item = item " Ar " $4
    printf ".It %s\n%s\n", item, sentences($7) > page
}
$1 == "combination" {
    if (listed)
        print ".El" > page
    print (combined[name]++ ? ".Pp" : ".Ss Combinations") > page
    listed = 0
    print plain($2) "." > page
}
$1 == "example" { examples = examples plain($2) "\n" }

END {
    sections()
    page = dir "/stdcl.1"
    head(page, "stdcl", 1)
    print ".Sh NAME\n.Nm stdcl\n.Nd simulations and tools on OpenCL devices" > page
    print ".Sh SYNOPSIS\n.Nm\n.Ar command\n.Op Ar options\n.Nm\n.Ar command Fl \\&-help\n.Nm\n.Fl \\&-version" > page
    print ".Sh DESCRIPTION\nRuns simulations and tools on OpenCL devices: GPUs, or any CPU." > page
    print "Each command has a page of its own.\n.Bl -tag -width Ds" > page
    for (i = 1; i <= n; i++)
        printf ".It Xo\n.Xr stdcl\\-%s 1\n.Xc\n%s\n", commands[i], plain(summary[commands[i]]) > page
    print ".El\n.Sh EXIT STATUS\n0 done, 1 failed, 2 wrong usage, 130 ended by Ctrl\\-C." > page
    print ".Sh EXAMPLES\nTwo galaxies collide, on whatever device there is:\n.Bd -literal -offset indent" > page
    print "stdcl nbody \\-\\-ic collision \\-o collision.png\n.Ed\n.Sh SEE ALSO" > page
    sort(commands, n)
    for (i = 1; i <= n; i++)
        printf ".Xr stdcl\\-%s 1 ,\n", commands[i] > page
    print ".Xr stdcl 3 ,\n.Xr stdcl\\-environment 7" > page
}
