/* files.c - what can be known of an output file before there is anything to write to it. */
/* SPDX-License-Identifier: MIT */
#include "cli.h"

#include "core/outfile.h"

#include <strings.h>
#include <sys/stat.h>

bool cli_output_is_whole(const char *path)
{
    struct stat status;
    return strcmp(path, "-") != 0 && (stat(path, &status) != 0 || S_ISREG(status.st_mode) || S_ISDIR(status.st_mode));
}

int cli_check_output(const char *path)
{
    struct outfile out;
    if (!cli_output_is_whole(path))
        return CLI_DONE; /* opening a pipe would wait for its reader */
    if (outfile_open(&out, path) < 0)
        return cli_failed_call(NULL);
    outfile_discard(&out);
    return CLI_DONE;
}

int cli_check_table(const char *option, const char *file)
{
    static const char *const others[] = {".json", ".svg", ".png", ".mp4", ".webm", ".gif", ".npy", ".html"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (cli_has_suffix(file, others[i]))
            return cli_wrong("%s: '%s' would be a table of text; give a name that ends in .csv", option, file);
    return CLI_DONE;
}

bool cli_has_suffix(const char *path, const char *suffix)
{
    const size_t length = strlen(path), tail = strlen(suffix);
    return length > tail && strcasecmp(path + length - tail, suffix) == 0;
}
