/* cmd_examples.c - `stdcl examples`: copy the example programs, with a Makefile, into a new folder.
 *
 * The copies are made in a temporary folder, which then gets its name, so that the folder appears
 * whole or not at all.
 * SPDX-License-Identifier: MIT
 */
#include "command.h"
#include "message.h"
#include "usage.h"

#include "core/share_folder.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char PLACE[] = "/share/stdcl/examples"; /* below the installation's prefix */

/* A temporary folder that is filled and then renamed. */
struct example_folder {
    char from[PATH_MAX], temporary[PATH_MAX];
    const char *name;
};

/* True for the Makefile, programs, kernels and templates. */
static bool is_example(const char *name)
{
    const char *dot = strrchr(name, '.');
    return strcmp(name, "Makefile") == 0 ||
           (dot && (!strcmp(dot, ".c") || !strcmp(dot, ".cl") || !strcmp(dot, ".clt")));
}

/* In a Makefile, begin with the prefix of this installation, if make can read that path. */
static void write_prefix(FILE *to, const char *name, const char *from)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "/._+-";
    const size_t length = strlen(from), tail = strlen(PLACE);
    if (strcmp(name, "Makefile") == 0 && length > tail &&
        strcmp(from + length - tail, PLACE) == 0 && strspn(from, plain) == length)
        fprintf(to, "PREFIX = %.*s\n", (int)(length - tail), from);
}

static int copy_example(const struct example_folder *folder, const char *name)
{
    char path[2 * PATH_MAX], block[4096];
    size_t got;
    snprintf(path, sizeof path, "%s/%s", folder->from, name);
    FILE *from = fopen(path, "re");
    if (!from)
        return cli_failed("%s: %s", path, strerror(errno));
    snprintf(path, sizeof path, "%s/%s", folder->temporary, name);
    FILE *to = fopen(path, "wxe");
    if (to)
        write_prefix(to, name, folder->from);
    while (to && (got = fread(block, 1, sizeof block, from)) > 0)
        fwrite(block, 1, got, to);
    const bool failed = ferror(from) || !to || ferror(to);
    fclose(from);
    if ((to && fclose(to) != 0) || failed)
        return cli_failed("%s: cannot copy: %s", path, strerror(errno));
    return CLI_DONE;
}

static void remove_example_folder(const struct example_folder *folder)
{
    char path[2 * PATH_MAX];
    struct dirent **entry = NULL;
    const int n = scandir(folder->temporary, &entry, NULL, NULL);
    for (int i = 0; i < n; i++) {
        snprintf(path, sizeof path, "%s/%s", folder->temporary, entry[i]->d_name);
        unlink(path);
        free(entry[i]);
    }
    free(entry);
    rmdir(folder->temporary);
}

static int copy_examples(const struct example_folder *folder)
{
    struct dirent **entry = NULL;
    int status = CLI_DONE;
    const int n = scandir(folder->from, &entry, NULL, alphasort);
    if (n < 0)
        return cli_failed("%s: %s", folder->from, strerror(errno));
    for (int i = 0; i < n; i++) {
        if (status == CLI_DONE && is_example(entry[i]->d_name))
            status = copy_example(folder, entry[i]->d_name);
        free(entry[i]);
    }
    free(entry);
    return status;
}

/* The temporary folder is private until it is complete. */
static int publish_examples(const struct example_folder *folder)
{
    const mode_t mask = umask(0);
    umask(mask);
    if (chmod(folder->temporary, 0777 & ~mask) != 0 || rename(folder->temporary, folder->name) != 0)
        return cli_failed("%s: cannot be created: %s", folder->name, strerror(errno));
    return CLI_DONE;
}

static int write_examples(const char *name)
{
    struct example_folder folder = {.name = name};
    struct stat info;
    int status;
    if (lstat(name, &info) == 0)
        return cli_failed("'%s' exists; give the name of a new folder, as in 'stdcl examples "
                          "FOLDER'",
                          name);
    if (!share_folder_find("examples", "Makefile", folder.from, sizeof folder.from))
        return cli_failed("cannot find the folder share/stdcl/examples of the installation; "
                          "install stdcl again");
    if (snprintf(folder.temporary, sizeof folder.temporary, "%s.XXXXXX", name) >=
        (int)sizeof folder.temporary)
        return cli_wrong("the name of the folder is longer than %d bytes", PATH_MAX);
    if (!mkdtemp(folder.temporary))
        return cli_failed("%s: cannot be created: %s", name, strerror(errno));
    if ((status = copy_examples(&folder)) == CLI_DONE)
        status = publish_examples(&folder);
    if (status != CLI_DONE)
        remove_example_folder(&folder);
    return status;
}

static int cmd_examples_run(int argc, char **argv)
{
    struct cli_strings words = {0};
    bool quiet = false;
    int status;
    struct cli_option options[] = {
        CLI_FLAG('q', "quiet", &quiet, "do not print what to do next"),
        CLI_END,
    };
    const struct cli_usage usage = {
        .synopsis = "[options] [FOLDER]",
        .about =
            "Copies the example programs, in reading order 01 to 10, into a new folder (default stdcl-examples), with a Makefile that builds them against the installed library. An existing folder is refused.",
        .examples = "  stdcl examples\n"
                    "  make -C stdcl-examples run\n",
        .options = options,
        .operands = &words,
        .operand = "FOLDER",
    };
    if (cli_parse(&usage, argc, argv, &status)) {
        const char *name = words.n ? words.item[0] : "stdcl-examples";
        if (words.n > 1)
            status = cli_wrong("unexpected argument '%s'; give one folder", words.item[1]);
        else
            status = write_examples(name);
        if (status == CLI_DONE && !quiet)
            printf("%s: examples and a Makefile; now type: make -C %s run\n", name, name);
    }
    cli_strings_free(&words);
    return status;
}

const struct cli_command cmd_examples = {"examples", "copy the example programs into a folder",
                                         cmd_examples_run, CLI_RANKS_INDEPENDENT};
