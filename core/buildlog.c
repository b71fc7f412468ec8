/* buildlog.c - compiler messages in terms of the user's files and lines.
 *
 * Sources carry #line directives. NVIDIA's compiler ignores them and prints "<kernel>:12:5",
 * counting lines of the text it was given; Oclgrind prints "input.cl:12:5". Such positions are
 * translated here as the preprocessor would have.
 * SPDX-License-Identifier: MIT
 */
#include "core/program.h"
#include "core/pocl.h"

/* The text before the line number of such a position. "input.cl" may also be a file of the user,
 * which the source then names. */
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

bool line_directive_name(const char *line, char *name, size_t size)
{
    char *quoted;
    size_t n = 0;
    if (strncmp(line, "#line ", 6) != 0)
        return false;
    strtol(line + 6, &quoted, 10);
    if (quoted[0] != ' ' || quoted[1] != '"')
        return false;
    for (quoted += 2; *quoted && *quoted != '"' && *quoted != '\n' && n + 1 < size; quoted++) {
        if (*quoted == '\\' && quoted[1])
            quoted++;
        name[n++] = *quoted;
    }
    name[n] = '\0';
    return true;
}

/* The line that #line directives assign to line `physical` (from 1) of a source. */
static long presumed_line(const char *source, long physical, char *name, size_t size)
{
    long line = 0;
    snprintf(name, size, "kernel");
    for (long i = 1; i <= physical && source; i++) {
        const char *end = strchr(source, '\n');
        line++;
        if (strncmp(source, "#line ", 6) == 0)
            line = strtol(source + 6, NULL, 10) - 1; /* a directive names the line after it */
        line_directive_name(source, name, size);
        source = end ? end + 1 : NULL;
    }
    return line;
}

bool build_log_gives_no_reason(const char *log)
{
    return strstr(log, "failed to build the program") && !strcasestr(log, "error");
}

static void add_reason(const char *log, FILE *fp)
{
    char folder[2048];
    if (!build_log_gives_no_reason(log))
        return;
    pocl_folder(folder, sizeof folder);
    fprintf(
        fp,
        "PoCL says no more than this when it cannot write in '%s': the disk may be full, or the folder another user's\n",
        folder);
}

char *build_log_translate(const char *log, const char *source)
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
