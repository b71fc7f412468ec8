/* nbody_ensemble_kept.c - outputs of an ensemble in its checkpoint: the rows of its tables, and the
 * files of its series, so that a resumed run writes the same files as one run.
 * SPDX-License-Identifier: MIT
 */
#include "command.h"
#include "alloc.h"
#include "message.h"
#include "nbody_ensemble.h"
#include "nbody_output.h"

#include <stdlib.h>
#include <string.h>

/* Followed by the chosen systems, a byte `ended` for each, the rows of both tables and, for each
 * series, the number of its files and the files. `files`: number of the files of all series. */
struct kept_head {
    uint64_t chosen, energies, orbits, series, files, last_row;
};

size_t ensemble_table_numbers(const struct ensemble_table *t)
{
    return t->csv.columns - t->named;
}

int ensemble_table_add(struct ensemble *e, struct ensemble_table *t, const double *row)
{
    const size_t columns = ensemble_table_numbers(t);
    char name[PARTICLES_NAME_SIZE] = "";
    if (e->job->checkpoint) {
        t->row = cli_realloc(t->row, t->n + 1, columns * sizeof *t->row);
        memcpy(t->row + columns * t->n++, row, columns * sizeof *row);
    }
    if (t->named) /* system and body are the first columns, from 1 on */
        (void)ensemble_body_name(e, (size_t)row[0] - 1, (size_t)row[1] - 1, name);
    const int failed = t->named ? csv_row_text(&t->csv, row, name) : csv_row(&t->csv, row);
    return failed < 0 ? cli_failed_call(NULL) : CLI_DONE;
}

static size_t series_files(const struct nbody_job *job)
{
    size_t files = 0;
    for (size_t i = 0; i < job->series_n; i++)
        files += job->series[i].n;
    return files;
}

static struct kept_head kept_head_of(const struct ensemble *e)
{
    const struct nbody_job *job = e->job;
    return (struct kept_head){e->chosen_n,   e->energies.n,     e->orbits.n,
                              job->series_n, series_files(job), e->last_row};
}

/* Bytes of what follows a head; the numbers are small enough. */
static size_t kept_bytes_of(const struct ensemble *e, const struct kept_head *h)
{
    return h->chosen * (sizeof *e->chosen + 1) +
           (h->energies * ensemble_table_numbers(&e->energies) +
            h->orbits * ensemble_table_numbers(&e->orbits)) *
               sizeof(double) +
           h->series * sizeof(uint64_t) + h->files * sizeof(struct series_file);
}

size_t ensemble_kept_bytes(const struct ensemble *e)
{
    const struct kept_head h = kept_head_of(e);
    return sizeof h + kept_bytes_of(e, &h);
}

static char *put_bytes(char *to, const void *from, size_t bytes)
{
    if (bytes)
        memcpy(to, from, bytes);
    return to + bytes;
}

static char *put_rows(char *to, const struct ensemble_table *t)
{
    return put_bytes(to, t->row, t->n * ensemble_table_numbers(t) * sizeof *t->row);
}

void ensemble_kept_save(const struct ensemble *e, char *to)
{
    const struct nbody_job *job = e->job;
    const struct kept_head h = kept_head_of(e);
    to = put_bytes(to, &h, sizeof h);
    to = put_bytes(to, e->chosen, e->chosen_n * sizeof *e->chosen);
    for (size_t k = 0; k < e->chosen_n; k++)
        *to++ = (char)e->ended[k];
    to = put_rows(to, &e->energies);
    to = put_rows(to, &e->orbits);
    for (size_t i = 0; i < job->series_n; i++) {
        const uint64_t files = job->series[i].n;
        to = put_bytes(to, &files, sizeof files);
        to = put_bytes(to, job->series[i].file, files * sizeof *job->series[i].file);
    }
}

/* Write rows again. *from: where they are, and after them. */
static int restore_rows(struct ensemble *e, struct ensemble_table *t, size_t rows,
                        const char **from)
{
    double row[16];
    const size_t bytes = ensemble_table_numbers(t) * sizeof *row;
    int status = CLI_DONE;
    for (size_t i = 0; i < rows && status == CLI_DONE; i++, *from += bytes) {
        memcpy(row, *from, bytes);
        status = ensemble_table_add(e, t, row);
    }
    return status;
}

/* Restore the files of a series. *left: files of this and the following series. */
static int restore_kept_series(struct series *s, uint64_t *left, const char **from,
                               const char *name)
{
    uint64_t files;
    memcpy(&files, *from, sizeof files);
    if (files > *left)
        return cli_failed("--resume: '%s' is damaged: it has too many files of a series", name);
    *left -= files;
    *from += sizeof files;
    if (files) {
        s->file = cli_realloc(s->file, files, sizeof *s->file);
        memcpy(s->file, *from, files * sizeof *s->file);
    }
    *from += files * sizeof *s->file;
    s->n = files;
    return CLI_DONE;
}

/* True if the head fits the outputs of this run and `bytes` bytes after it. This run may have more
 * tables, or a series where the checkpoint has none. */
static bool head_fits(const struct ensemble *e, const struct kept_head *h, size_t bytes)
{
    const size_t most = SIZE_MAX / 1024;
    return h->energies < most && h->orbits < most && h->files < most && h->chosen == e->chosen_n &&
           (h->series == 0 || h->series == e->job->series_n) &&
           (h->energies == 0 || e->energies.csv.columns > 0) &&
           (h->orbits == 0 || e->orbits.csv.columns > 0) && kept_bytes_of(e, h) == bytes;
}

int ensemble_kept_restore(struct ensemble *e, const char *from, size_t bytes)
{
    struct nbody_job *job = e->job;
    struct kept_head h = {.chosen = 0};
    if (bytes >= sizeof h)
        memcpy(&h, from, sizeof h);
    if (bytes < sizeof h || !head_fits(e, &h, bytes - sizeof h) ||
        memcmp(from + sizeof h, e->chosen, h.chosen * sizeof *e->chosen) != 0)
        return cli_wrong(
            "--resume: the run of %s had other outputs over time (--systems, --csv, --elements or --snapshots); keep these, and add more as needed",
            job->resume);
    from += sizeof h + h.chosen * sizeof *e->chosen;
    for (size_t k = 0; k < e->chosen_n; k++)
        e->ended[k] = (uint8_t)(*from++ & (ROW_OF_ENERGIES | ROW_OF_ORBITS));
    e->last_row = h.last_row;
    int status = restore_rows(e, &e->energies, h.energies, &from);
    if (status == CLI_DONE)
        status = restore_rows(e, &e->orbits, h.orbits, &from);
    for (size_t i = 0; i < h.series && status == CLI_DONE; i++)
        status = restore_kept_series(&job->series[i], &h.files, &from, job->resume);
    nbody_series_resume(job, nbody_ensemble_steps(e->engine));
    return status;
}
