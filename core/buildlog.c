/* buildlog.c - compilers' messages in terms of the user's own files and lines.
 *
 * Sources carry #line directives. NVIDIA's compiler does not follow them: it says "<kernel>:12:5",
 * counting the lines of the text it was given, and Oclgrind's "input.cl:12:5". Such places are
 * translated here as the preprocessor would have.
 * SPDX-License-Identifier: MIT
 */
#include "core/internal.h"
#include "core/pocl.h"

/* What stands in front of such a line's number. The second may be a file of the user's, which the
 * source names then. */
static const char *place_in(const char *log, const char *source, size_t *length)
{
    static const char nvidia[] = "<kernel>:", oclgrind[] = "input.cl:";
    const char *place = strstr(log, nvidia);
    *length = sizeof nvidia - 1;
    if (!place && !strstr(source, "input.cl")) {
        place = strstr(log, oclgrind);
        *length = sizeof oclgrind - 1;
    }
    return place;
}

/* The name in a directive `#line N "name"`, without escapes. */
static void copy_name(const char *quoted, char *name, size_t size)
{
    size_t n = 0;
    for (; *quoted && *quoted != '"' && *quoted != '\n' && n + 1 < size; quoted++) {
        if (*quoted == '\\' && quoted[1])
            quoted++;
        name[n++] = *quoted;
    }
    name[n] = '\0';
}

/* Where line `physical` (from 1) of a source is by its #line directives. */
static long presumed_line(const char *source, long physical, char *name, size_t size)
{
    long line = 0;
    snprintf(name, size, "kernel");
    for (long i = 1; i <= physical && source; i++) {
        const char *end = strchr(source, '\n');
        line++;
        if (strncmp(source, "#line ", 6) == 0) {
            char *rest;
            line = strtol(source + 6, &rest, 10) -
                   1; /* of the directive: the next line is the one named */
            if (rest[0] == ' ' && rest[1] == '"')
                copy_name(rest + 2, name, size);
        }
        source = end ? end + 1 : NULL;
    }
    return line;
}

/* PoCL does not say why it cannot write a file. */
static void add_reason(const char *log, FILE *fp)
{
    char folder[2048];
    if (!strstr(log, "failed to build the program") || strcasestr(log, "error"))
        return;
    pocl_folder(folder, sizeof folder);
    fprintf(
        fp,
        "PoCL says no more than this when it cannot write in '%s': the disk may be full, or the folder another user's\n",
        folder);
}

char *translate_log(const char *log, const char *source)
{
    char *text = NULL;
    size_t size = 0;
    FILE *fp = open_memstream(&text, &size);
    if (!fp)
        return NULL;
    size_t length;
    for (const char *place; source && (place = place_in(log, source, &length)) != NULL;) {
        char name[256], *after;
        long line = strtol(place + length, &after, 10);
        fwrite(log, 1, (size_t)(place - log), fp);
        if (after == place + length) {
            fwrite(place, 1, length, fp);
        } else {
            line = presumed_line(source, line, name, sizeof name);
            fprintf(fp, "%s:%ld", name, line);
        }
        log = after;
    }
    fputs(log, fp);
    add_reason(log, fp);
    fclose(fp);
    return text;
}
