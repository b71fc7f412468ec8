/* timeline.c - spans of commands and host phases, and the trace file of them.
 *
 * The file has the Chrome trace format (chrome://tracing, ui.perfetto.dev). Process 0 is the host
 * with a track per thread. Each device of each context is a process with a track for kernels and
 * one for transfers. The file is written piece by piece, so a long timeline needs no further
 * memory.
 * SPDX-License-Identifier: MIT
 */
#include "core/outfile.h"
#include "profile/profile.h"

#include <jansson.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SLOTS = 2 * MAX_NAMES, FIRST_ROOM = 1024 };

/* ---- Keeping. ---- */

struct timeline *timeline_new(cl_uint ndev)
{
    struct timeline *t = calloc(1, sizeof *t);
    if (!t)
        return NULL;
    t->ndev = ndev;
    t->device = calloc(ndev, sizeof *t->device);
    t->slot = calloc(SLOTS, sizeof *t->slot);
    t->name = calloc(MAX_NAMES, sizeof *t->name);
    if (!t->device || !t->slot || !t->name || !(t->name[0] = strdup("others"))) {
        timeline_free(t);
        return NULL;
    }
    t->names = 1;
    return t;
}

void timeline_free(struct timeline *t)
{
    if (!t)
        return;
    for (uint32_t i = 0; t->name && i < t->names; i++)
        free(t->name[i]);
    free(t->name);
    free(t->slot);
    free(t->device);
    free(t->commands.item);
    free(t->phases.item);
    free(t);
}

bool timeline_name(struct timeline *t, const char *name, uint32_t *number)
{
    uint32_t h = 2166136261u; /* FNV-1a */
    for (const char *c = name; *c; c++)
        h = (h ^ (unsigned char)*c) * 16777619u;
    uint32_t i = h % SLOTS;
    for (; t->slot[i]; i = (i + 1) % SLOTS)
        if (strcmp(t->name[t->slot[i] - 1], name) == 0)
            return *number = t->slot[i] - 1u, true;
    if (t->names == MAX_NAMES)
        return *number = 0, true;
    if (!(t->name[t->names] = strdup(name)))
        return false;
    t->slot[i] = (uint16_t)++t->names;
    return *number = t->names - 1, true;
}

void timeline_add(struct spans *spans, size_t most, struct span span)
{
    if (spans->count == spans->room && spans->room < most) {
        size_t room = spans->room ? 2 * spans->room : FIRST_ROOM;
        struct span *item = realloc(spans->item, room * sizeof *item);
        if (item) {
            spans->item = item;
            spans->room = room;
        }
    }
    if (spans->count < spans->room)
        spans->item[spans->count++] = span;
    else
        spans->beyond++;
}

static void shrink_spans(struct spans *spans)
{
    struct span *item = spans->count ? realloc(spans->item, spans->count * sizeof *item) : NULL;
    if (item) {
        spans->item = item;
        spans->room = spans->count;
    }
}

void timeline_shrink(struct timeline *t)
{
    char **name = realloc(t->name, t->names * sizeof *name);
    t->name = name ? name : t->name;
    free(t->slot);
    t->slot = NULL;
    shrink_spans(&t->commands);
    shrink_spans(&t->phases);
}

/* ---- How long devices were busy. ---- */

/* Start or end of a kernel on a device. */
struct edge {
    uint64_t time;
    cl_uint dev;
    int step;
};

static int edge_compare_time(const void *a, const void *b)
{
    const struct edge *x = a, *y = b;
    return x->time < y->time ? -1 : x->time > y->time;
}

bool timeline_busy(const struct timeline *t, uint64_t *one, uint64_t *two)
{
    size_t n = 0;
    unsigned busy = 0;
    int *running = calloc(t->ndev, sizeof *running);
    struct edge *edge = calloc(2 * t->commands.count + 1, sizeof *edge);
    const bool room = running && edge;
    *one = *two = 0;
    for (size_t i = 0; room && i < t->commands.count; i++) {
        const struct span *s = &t->commands.item[i];
        if (s->track % 2 == 0) {
            edge[n++] = (struct edge){s->start, s->track / 2, 1};
            edge[n++] = (struct edge){s->end, s->track / 2, -1};
        }
    }
    if (n)
        qsort(edge, n, sizeof *edge, edge_compare_time);
    for (size_t i = 0; i < n; i++) {
        uint64_t since = i ? edge[i].time - edge[i - 1].time : 0;
        *one += busy >= 1 ? since : 0;
        *two += busy >= 2 ? since : 0;
        int before = running[edge[i].dev];
        running[edge[i].dev] += edge[i].step;
        busy += (unsigned)((running[edge[i].dev] > 0) - (before > 0));
    }
    free(edge);
    free(running);
    return room;
}

/* ---- The file. ---- */

/* Write a JSON string; bytes that are not UTF-8 become question marks. */
static void trace_write_string(FILE *fp, const char *text)
{
    json_t *string = json_string(text);
    fputc('"', fp);
    for (const unsigned char *c = (const unsigned char *)text; *c; c++)
        if (*c == '"' || *c == '\\')
            fprintf(fp, "\\%c", *c);
        else if (*c < 0x20)
            fprintf(fp, "\\u%04x", *c);
        else
            fputc(*c < 0x80 || string ? *c : '?', fp);
    fputc('"', fp);
    json_decref(string);
}

static void write_label(FILE *fp, const char *what, unsigned pid, unsigned tid, const char *label)
{
    fprintf(fp, ",\n{\"ph\":\"M\",\"name\":\"%s\",\"pid\":%u,\"tid\":%u,\"args\":{\"name\":", what,
            pid, tid);
    trace_write_string(fp, label);
    fputs("}}", fp);
}

/* Write nanoseconds exactly, in the format's microseconds. */
static void write_time(FILE *fp, const char *key, uint64_t ns)
{
    fprintf(fp, "\"%s\":%llu.%03u,", key, (unsigned long long)(ns / 1000), (unsigned)(ns % 1000));
}

static void write_span(FILE *fp, const struct timeline *t, const struct span *s, const char *kind,
                       unsigned pid, unsigned tid, uint64_t zero)
{
    uint64_t start = s->start > zero ? s->start : zero, end = s->end > start ? s->end : start;
    fprintf(fp, ",\n{\"ph\":\"X\",\"cat\":\"%s\",\"name\":", kind);
    trace_write_string(fp, t->name[s->name]);
    fputc(',', fp);
    write_time(fp, "ts", start - zero);
    write_time(fp, "dur", end - start);
    fprintf(fp, "\"pid\":%u,\"tid\":%u}", pid, tid);
}

/* first: process number of device 0. */
static void write_timeline(FILE *fp, const struct timeline *t, unsigned first, uint64_t zero)
{
    static const char *const kind[] = {"kernel", "transfer"};
    for (cl_uint d = 0; d < t->ndev && t->commands.count; d++) {
        write_label(fp, "process_name", first + d, 0, t->device[d]);
        write_label(fp, "thread_name", first + d, 0, "kernels");
        write_label(fp, "thread_name", first + d, 1, "transfers");
    }
    for (size_t i = 0; i < t->commands.count; i++) {
        const struct span *s = &t->commands.item[i];
        write_span(fp, t, s, kind[s->track % 2], first + s->track / 2, s->track % 2, zero);
    }
    for (size_t i = 0; i < t->phases.count; i++)
        write_span(fp, t, &t->phases.item[i], "host", 0, t->phases.item[i].track, zero);
}

/* Name the host's tracks: one per thread that marked a phase. */
static void write_threads(FILE *fp, const struct timeline *list)
{
    uint32_t threads = 0;
    for (const struct timeline *t = list; t; t = t->next)
        for (size_t i = 0; i < t->phases.count; i++)
            threads = t->phases.item[i].track >= threads ? t->phases.item[i].track + 1 : threads;
    for (uint32_t i = 0; i < threads; i++) {
        char label[32];
        snprintf(label, sizeof label, "thread %u", i);
        write_label(fp, "thread_name", 0, i, label);
    }
}

static void timeline_write_all(FILE *fp, const struct timeline *list, uint64_t zero)
{
    unsigned first = 1;
    size_t beyond = 0;
    fputs(
        "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n"
        "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":0,\"tid\":0,\"args\":{\"name\":\"host\"}}",
        fp);
    write_threads(fp, list);
    for (const struct timeline *t = list; t; t = t->next) {
        write_timeline(fp, t, first, zero);
        first += t->ndev;
        beyond += t->commands.beyond + t->phases.beyond;
    }
    fprintf(fp, "],\n\"otherData\":{\"spans_not_kept\":%zu}}\n", beyond);
}

int timeline_write(const struct timeline *list, uint64_t zero, const char *file)
{
    struct outfile out;
    int status = outfile_open(&out, file);
    if (status == 0) {
        out.nosync = true; /* like every profile */
        timeline_write_all(out.fp, list, zero);
        status = outfile_commit(&out);
    }
    return status == 0 ? 0 : fail(clerrno, 0, "clprofile_trace: %s", clerror_text());
}
