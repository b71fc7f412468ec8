/* check_log.c - Oclgrind's log as sentences, one per faulty place in a kernel.
 *
 * A record of the log is a line with the kind of error, followed by indented lines with the
 * kernel, the work-items ("entities"; two for a race) and the places in the source. Usually
 * thousands of work-items hit one error; it is printed once.
 * SPDX-License-Identifier: MIT
 */
#include "alloc.h"
#include "check_job.h"

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct place {
    char file[256];
    long line, column;
};

struct record {
    char what[256], kernel[128];
    char item[2][64]; /* "(1,0,0)" of a work-item */
    size_t items, places;
    struct place place[2];
};

struct check_log {
    struct record record; /* being read; what is "" at the start */
    struct finding {
        char *key;
    } * finding;
    size_t findings, seen;
};

/* ---- Sentences. ------------------------------------------------------------------------------ */

/* First words of a record, and its meaning. {n}: its first number; {space}: name of the memory. */
static const struct {
    const char *begins, *means;
} meanings[] = {
    {"Invalid read of size", "reads {n} bytes outside of {space}"},
    {"Invalid write of size", "writes {n} bytes outside of {space}"},
    {"Invalid read from write-only buffer", "reads a buffer that is write-only"},
    {"Invalid write to read-only buffer", "writes to a buffer that is read-only"},
    {"Write-write data race",
     "has a data race in {space}: two unordered work-items write to one place"},
    {"Read-write data race",
     "has a data race in {space}: unordered work-items read and write one place"},
    {"Uninitialized value written",
     "writes a value to {space} that depends on uninitialised memory"},
    {"Uninitialized address", "uses an address that depends on uninitialised memory"},
    {"Controlflow depends on uninitialized",
     "branches on a value that depends on uninitialised memory"},
    {"Instruction depends on an uninitialized",
     "uses an index that depends on uninitialised memory"},
    {"Work-group divergence", "has a barrier that not all work-items of a group reach"},
    {"Index (", "uses index {n}, which is out of bounds of its array"},
};

static const char *find_meaning(const char *what)
{
    for (size_t i = 0; i < sizeof meanings / sizeof *meanings; i++)
        if (strncmp(what, meanings[i].begins, strlen(meanings[i].begins)) == 0)
            return meanings[i].means;
    return NULL;
}

static const char *memory_space(const char *what)
{
    return strstr(what, "local memory")      ? "local memory"
           : strstr(what, "private memory")  ? "private arrays"
           : strstr(what, "constant memory") ? "constant memory"
                                             : "global buffers";
}

static void print_meaning(const char *means, const char *what)
{
    for (const char *p = means; *p; p++) {
        if (strncmp(p, "{n}", 3) == 0) {
            what += strcspn(what, "0123456789");
            fprintf(stderr, "%.*s", (int)strspn(what, "0123456789"), what);
            p += 2;
        } else if (strncmp(p, "{space}", 7) == 0) {
            fputs(memory_space(what), stderr);
            p += 6;
        } else {
            fputc(*p, stderr);
        }
    }
}

static void print_record(const struct record *r)
{
    const char *means = find_meaning(r->what);
    const struct place *at = r->place;
    if (r->places)
        fprintf(stderr, "%s:%ld:%ld: ", at->file, at->line, at->column);
    fprintf(stderr, "kernel %s ", *r->kernel ? r->kernel : "(unknown)");
    if (means)
        print_meaning(means, r->what);
    else
        fprintf(stderr, "does what Oclgrind calls \"%s\"", r->what);
    if (r->items == 1)
        fprintf(stderr, ", in work-item %s", r->item[0]);
    else if (r->items == 2)
        fprintf(stderr, ": %s and %s", r->item[0], r->item[1]);
    if (r->places == 2 && (at[0].line != at[1].line || strcmp(at[0].file, at[1].file) != 0))
        fprintf(stderr, ", the latter in %s:%ld:%ld", at[1].file, at[1].line, at[1].column);
    fputc('\n', stderr);
}

/* ---- Records. -------------------------------------------------------------------------------- */

/* Key of a finding: kind, kernel and places, in any order. */
static char *record_key(const struct record *r)
{
    char *key = cli_alloc(1, sizeof *r + 128);
    int used = sprintf(key, "%.*s|%s", (int)strcspn(r->what, "0123456789"), r->what, r->kernel);
    const bool turned = r->places == 2 && r->place[1].line < r->place[0].line;
    for (size_t i = 0; i < r->places; i++) {
        const struct place *at = &r->place[turned ? 1 - i : i];
        used += sprintf(key + used, "|%s:%ld:%ld", at->file, at->line, at->column);
    }
    return key;
}

static void end_record(struct check_log *log)
{
    if (!*log->record.what)
        return;
    char *key = record_key(&log->record);
    bool known = false;
    for (size_t i = 0; i < log->findings && !known; i++)
        known = strcmp(log->finding[i].key, key) == 0;
    log->seen++;
    if (known) {
        free(key);
    } else {
        log->finding = cli_realloc(log->finding, log->findings + 1, sizeof *log->finding);
        log->finding[log->findings++].key = key;
        print_record(&log->record);
    }
    log->record = (struct record){0};
}

/* "	First entity:  Global(1,0,0) Local(1,0,0) Group(0,0,0)" */
static void read_work_item(struct record *r, const char *line)
{
    const char *global = strstr(line, "Global(");
    const size_t length = global ? strcspn(global + 6, ")") + 1 : 0;
    if (global && r->items < 2 && length < sizeof r->item[0])
        memcpy(r->item[r->items++], global + 6, length);
}

/* "	At line 4 (column 14) of oob.cl:" */
static void read_source_place(struct record *r, const char *line)
{
    struct place place = {.column = 1};
    const char *file = strstr(line, " of ");
    if (!file || r->places == 2 ||
        sscanf(line, " At line %ld (column %ld)", &place.line, &place.column) < 1)
        return;
    snprintf(place.file, sizeof place.file, "%s", file + 4);
    const size_t length = strlen(place.file);
    if (length && place.file[length - 1] == ':')
        place.file[length - 1] = 0;
    r->place[r->places++] = place;
}

void check_log_line(struct check_log *log, const char *line)
{
    struct record *r = &log->record;
    if (!*line)
        return;
    if (!isspace((unsigned char)*line)) {
        end_record(log);
        snprintf(r->what, sizeof r->what, "%s", line);
    } else if (strstr(line, "\tKernel:")) {
        snprintf(r->kernel, sizeof r->kernel, "%s",
                 line + strspn(line, " \t") + strlen("Kernel: "));
    } else if (strstr(line, "ntity:")) {
        read_work_item(r, line);
    } else if (strncmp(line, "\tAt line ", 9) == 0) {
        read_source_place(r, line);
    }
}

struct check_log *check_log_create(void)
{
    struct check_log *log = cli_alloc(1, sizeof *log);
    *log = (struct check_log){0};
    return log;
}

size_t check_log_end(struct check_log *log, size_t *seen)
{
    end_record(log);
    *seen = log->seen;
    return log->findings;
}

void check_log_free(struct check_log *log)
{
    for (size_t i = 0; i < log->findings; i++)
        free(log->finding[i].key);
    free(log->finding);
    free(log);
}
