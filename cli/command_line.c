/* command_line.c - the command line as text, for the metadata of files.
 * SPDX-License-Identifier: MIT
 */
#include "command_line.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *cli_command_line(int argc, char **argv)
{
    char *text = NULL;
    size_t size = 0;
    FILE *fp = open_memstream(&text, &size);
    if (!fp)
        return NULL;
    fputs("stdcl", fp);
    for (int i = 0; i < argc; i++) {
        const char *word = argv[i];
        const bool plain =
            *word &&
            strspn(word,
                   "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=+./:,%^@") ==
                strlen(word);
        fputs(plain ? " " : " '", fp);
        for (const char *c = word; *c; c++)
            fputs(*c == '\'' ? "'\\''" : (char[]){*c, 0}, fp);
        if (!plain)
            putc('\'', fp);
    }
    if (fclose(fp) != 0) {
        free(text);
        text = NULL;
    }
    return text;
}
