/* decimal_comma.h - a locale with decimal commas and nothing else, compiled here because few
 * machines have one installed.
 * SPDX-License-Identifier: MIT
 */
#ifndef DECIMAL_COMMA_H
#define DECIMAL_COMMA_H

#include <locale.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/* Enter the locale, until setlocale(LC_NUMERIC, "C"). Print a line and return false if localedef
 * cannot compile it. */
static inline bool enter_decimal_commas(void)
{
    char folder[] = "/tmp/stdcl-locale-XXXXXX", command[300];
    if (!mkdtemp(folder))
        return false;
    snprintf(
        command, sizeof command,
        "cd %s && printf 'LC_NUMERIC\ndecimal_point \",\"\nthousands_sep \"\"\ngrouping -1\nEND LC_NUMERIC\n'"
        " >source && localedef -c -i ./source -f ANSI_X3.4-1968 ./commas >log 2>&1",
        folder);
    int status = system(command); /* not 0: all the rest of a locale is undefined */
    setenv("LOCPATH", folder, 1);
    const bool entered = setlocale(LC_NUMERIC, "commas") && localeconv()->decimal_point[0] == ',';
    unsetenv("LOCPATH");
    snprintf(command, sizeof command, "rm -r %s", folder);
    status = system(command);
    if (!entered || status != 0)
        printf("localedef cannot make a locale with decimal commas here\n");
    return entered && status == 0;
}

#endif
