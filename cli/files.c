/* files.c - checks of file names before anything is read or written. */
/* SPDX-License-Identifier: MIT */
#include "command.h"
#include "files.h"
#include "alloc.h"
#include "message.h"
#include "usage.h"
#include "window.h"

#include "core/outfile.h"

#include <errno.h>
#include <stdbool.h>
#include <stdcl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

static const char SOCKET[] = "unix:"; /* before the path of a socket */

bool cli_output_is_regular(const char *path)
{
    struct stat status;
    return strcmp(path, "-") != 0 &&
           (stat(path, &status) != 0 || S_ISREG(status.st_mode) || S_ISDIR(status.st_mode));
}

int cli_check_output(const char *path)
{
    struct outfile out;
    if (!cli_output_is_regular(path))
        return CLI_DONE; /* opening a pipe would block until a reader opens it */
    if (outfile_open(&out, path) < 0)
        return cli_failed_call(NULL);
    outfile_discard(&out);
    return CLI_DONE;
}

int cli_check_suffix(const char *option, const char *file, const char *what, const char *suffix)
{
    static const char *const all[] = {".csv",  ".json", ".svg",   ".png",   ".mp4",  ".webm",
                                      ".gif",  ".npy",  ".html",  ".view",  ".ckpt", ".tab",
                                      ".hdf5", ".h5",   ".tipsy", ".std",   ".tip",  ".bin",
                                      ".rle",  ".mc",   ".lif",   ".cells", ".gz",   ".zip"};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (cli_has_suffix(file, all[i]) && strcmp(all[i], suffix) != 0)
            return cli_wrong("%s: '%s' would be %s; give a name that ends in %s", option, file,
                             what, suffix);
    return CLI_DONE;
}

int cli_check_table(const char *option, const char *file)
{
    return cli_check_suffix(option, file, "a table of text", ".csv");
}

bool cli_has_suffix(const char *path, const char *suffix)
{
    const size_t length = strlen(path), tail = strlen(suffix);
    return length > tail && strcasecmp(path + length - tail, suffix) == 0;
}

FILE *cli_open_text(const char *file, const char *wanted)
{
    struct stat info;
    FILE *fp = fopen(file, "re");
    const char *why = !fp ? strerror(errno) : NULL;
    if (fp && fstat(fileno(fp), &info) == 0)
        why = S_ISDIR(info.st_mode)                          ? "is a directory"
              : S_ISCHR(info.st_mode) && !isatty(fileno(fp)) ? "is a device"
                                                             : NULL;
    if (!why)
        return fp;
    cli_failed("%s: %s; %s", file, why, wanted);
    if (fp)
        fclose(fp);
    return NULL;
}

/* ---- Files that are named twice. ------------------------------------------------------------- */

/* Absolute name of a file, with links resolved; NULL if its directory does not exist. The caller
 * frees it. */
static char *absolute_name(const char *path)
{
    char *whole = realpath(path, NULL);
    if (whole || errno != ENOENT)
        return whole;
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    char *folder = cli_alloc(1, strlen(path) + 3);
    sprintf(folder, "%.*s.", (int)(base - path), path);
    char *found = realpath(folder, NULL);
    free(folder);
    if (!found)
        return NULL;
    whole = cli_alloc(1, strlen(found) + strlen(base) + 2);
    sprintf(whole, "%s/%s", found, base);
    free(found);
    return whole;
}

bool cli_same_file(const char *a, const char *b)
{
    if (strcmp(a, b) == 0)
        return true;
    if (!cli_output_is_regular(a) || !cli_output_is_regular(b))
        return false;
    char *whole_a = absolute_name(a), *whole_b = absolute_name(b);
    const bool same = whole_a && whole_b && strcmp(whole_a, whole_b) == 0;
    free(whole_a);
    free(whole_b);
    return same;
}

/* File i of an option, or NULL. */
static const char *option_file(const struct cli_option *o, size_t i)
{
    return o->type == CLI_TYPE_STRING ? (i == 0 ? *o->to.string : NULL) /* also set by an operand */
           : !o->given                ? NULL
           : i < o->to.strings->n     ? o->to.strings->item[i]
                                      : NULL;
}

/* --output may replace an input; --checkpoint may replace the file of --resume. */
static bool may_replace(const struct cli_option *o, const struct cli_option *read)
{
    return strcmp(o->name, strcmp(read->name, "resume") == 0 ? "checkpoint" : "output") == 0;
}

static int check_pair(const struct cli_usage *usage, const struct cli_option *o, const char *file,
                      const struct cli_option *p, const char *other)
{
    const bool read = cli_list_has(usage->reads, p->name);
    if (!cli_same_file(file, other) || (read && (strcmp(file, "-") == 0 || may_replace(o, p))))
        return CLI_DONE;
    if (read)
        return cli_wrong("--%s '%s' would replace an input; give a different name", o->name, file);
    return strcmp(file, other) == 0
               ? cli_wrong("'%s' is given twice as output", file)
               : cli_wrong("'%s' and '%s' are one file, given twice as output", file, other);
}

/* Compare output n of option o with all inputs and with the preceding outputs. */
static int check_output_file(const struct cli_usage *usage, const struct cli_option *o, size_t n)
{
    int status = CLI_DONE;
    for (const struct cli_option *p = usage->options; p->type != CLI_TYPE_END; p++) {
        const bool read = p->name && cli_list_has(usage->reads, p->name);
        const char *other;
        if (!p->name || (!read && (p > o || !cli_list_has(usage->writes, p->name))))
            continue;
        for (size_t i = 0; status == CLI_DONE && (p != o || i < n) && (other = option_file(p, i));
             i++)
            status = check_pair(usage, o, option_file(o, n), p, other);
    }
    return status;
}

/* ---- Outputs that a file names. -------------------------------------------------------------- */

static bool is_stored(const struct cli_stored *stored, const char *text)
{
    for (size_t i = 0; i < stored->n; i++)
        if (text >= stored->word[i] && text <= stored->word[i] + strlen(stored->word[i]))
            return true;
    return false;
}

/* True if `path` lies below the folder, links resolved. */
static bool is_below(const char *folder, const char *path)
{
    const size_t length = strlen(folder);
    char *whole = absolute_name(path);
    const bool below = whole && strncmp(whole, folder, length) == 0 &&
                       (whole[length] == '/' || strcmp(folder, "/") == 0);
    free(whole);
    return below;
}

/* The folder of a file, links resolved. The caller frees it. */
static char *folder_of(const char *file)
{
    char *whole = absolute_name(file), *slash = whole ? strrchr(whole, '/') : NULL;
    if (slash)
        slash[slash == whole] = 0;
    return whole;
}

/* Append the option as the user would type it, and the file, to a list. */
static void list_output(char *list, size_t size, const struct cli_option *o, const char *file)
{
    const size_t used = strlen(list);
    const char letter[] = {'-', o->letter, 0};
    snprintf(list + used, size - used, "%s%s%s%s%s", used ? ", " : "", o->by_letter ? "" : "--",
             o->by_letter ? letter : o->name, o->optional ? "=" : " ", file);
}

/* The address of --view if it is a Unix socket, or NULL. */
static const char *socket_address(const struct cli_option *o)
{
    const bool window = o->name && strcmp(o->name, "view") == 0 && o->given;
    const char *address = window ? ((const struct cli_window *)o->to.any)->address : NULL;
    return address && strncmp(address, SOCKET, strlen(SOCKET)) == 0 ? address : NULL;
}

/* Append a stored output that is not below the folder to a list. Fail if its own folder does not
 * exist. */
static int check_stored_file(const struct cli_usage *usage, const char *folder,
                             const struct cli_option *o, const char *file, char *list, size_t size)
{
    if (!is_stored(usage->stored, file) || strcmp(file, "-") == 0 ||
        (folder && is_below(folder, file)))
        return CLI_DONE;
    char *whole = absolute_name(file);
    const int status = whole ? CLI_DONE : cli_check_output(file);
    free(whole);
    if (status == CLI_DONE)
        list_output(list, size, o, file);
    return status;
}

static int check_stored_outputs(const struct cli_usage *usage)
{
    char list[400] = "", *folder = folder_of(usage->stored->file);
    int status = CLI_DONE;
    for (const struct cli_option *o = usage->options; o->type != CLI_TYPE_END; o++) {
        const char *address = socket_address(o);
        const bool writes = o->name && cli_list_has(usage->writes, o->name);
        for (size_t i = 0; status == CLI_DONE && writes && option_file(o, i); i++)
            status = check_stored_file(usage, folder, o, option_file(o, i), list, sizeof list);
        if (address && is_stored(usage->stored, address) &&
            !(folder && is_below(folder, address + strlen(SOCKET))))
            list_output(list, sizeof list, o, address);
    }
    free(folder);
    if (status != CLI_DONE)
        return status;
    return *list ? cli_wrong("%s names outputs that are not below its folder; to write them, give "
                             "them again: %s",
                             usage->stored->file, list)
                 : CLI_DONE;
}

/* ---- Names of standard output. --------------------------------------------------------------- */

/* True if a file is standard output under another name: /dev/stdout, or a pipe or regular file that
 * standard output is redirected to. */
static bool is_standard_output(const char *file, bool *regular)
{
    static const char *const names[] = {"/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"};
    struct stat own, other;
    *regular = false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(file, names[i]) == 0)
            return true;
    if (fstat(STDOUT_FILENO, &own) != 0 || stat(file, &other) != 0 || own.st_dev != other.st_dev ||
        own.st_ino != other.st_ino)
        return false;
    *regular = S_ISREG(own.st_mode);
    return *regular || S_ISFIFO(own.st_mode);
}

static bool stdout_is_taken;

bool cli_stdout_is_taken(void)
{
    return stdout_is_taken;
}

/* Call standard output "-" in all outputs: commands compare with "-". Refuse a regular file: its
 * suffix selects a format, which "-" would not. */
static int find_standard_output(const struct cli_usage *usage)
{
    bool regular;
    stdout_is_taken = false;
    for (const struct cli_option *o = usage->options; o->type != CLI_TYPE_END; o++)
        for (size_t i = 0; o->name && cli_list_has(usage->writes, o->name) && option_file(o, i);
             i++) {
            const char *file = option_file(o, i);
            if (strcmp(file, "-") != 0 && !is_standard_output(file, &regular))
                continue;
            stdout_is_taken = true;
            if (strcmp(file, "-") == 0)
                continue;
            if (regular)
                return cli_wrong("--%s '%s' is also the file of standard output; give a different "
                                 "name, or -",
                                 o->name, file);
            *(o->type == CLI_TYPE_STRING ? o->to.string : &o->to.strings->item[i]) = "-";
        }
    return CLI_DONE;
}

int cli_check_files(const struct cli_usage *usage)
{
    int status = find_standard_output(usage);
    if (status == CLI_DONE && usage->stored)
        status = check_stored_outputs(usage);
    for (const struct cli_option *o = usage->options; o->type != CLI_TYPE_END; o++)
        if (o->name && cli_list_has(usage->writes, o->name))
            for (size_t i = 0; status == CLI_DONE && option_file(o, i); i++)
                status = check_output_file(usage, o, i);
    return status;
}
