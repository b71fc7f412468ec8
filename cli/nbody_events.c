/* nbody_events.c - events of `stdcl nbody`: the rules of --event and --stop-event, and the table of
 * --events. Rows stay in memory until the end and are saved in checkpoints. */
/* SPDX-License-Identifier: MIT */
#include "command.h"
#include "alloc.h"
#include "message.h"
#include "nbody_bodies.h"
#include "nbody_run.h"

#include "formats/csv.h"
#include "formats/number.h"

#include <math.h>
#include <stdbool.h>
#include <stdcl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_WORDS = 3 };
static const char *const event_names[] = {"encounter", "pericentre", "apocentre", "transit",
                                          "escape"};

/* A rule's text, split at commas; words are not terminated. */
struct event_words {
    size_t n, length[MOST_WORDS];
    const char *word[MOST_WORDS];
    char *why; /* why a body was not found; "": unknown */
};

static bool split_words(const char *text, struct event_words *w)
{
    for (w->n = 0; w->n < MOST_WORDS; text += w->length[w->n++] + 1) {
        w->word[w->n] = text;
        w->length[w->n] = nbody_word_length(text, text + strlen(text));
        if (!text[w->length[w->n]]) {
            w->n++;
            return true;
        }
    }
    return false;
}

static bool find_word(const struct particles *b, const struct event_words *w, size_t k,
                      size_t *body)
{
    if (nbody_find_body(b, w->word[k], w->length[k], body, w->why))
        return true;
    if (!*w->why && w->length[k])
        snprintf(w->why, NBODY_WHY,
                 "'%.*s' names none of the %zu bodies; give a name (in quotes if it has a comma), "
                 "or a number from 1 on",
                 w->length[k] < 40 ? (int)w->length[k] : 40, w->word[k], b->n);
    return false;
}

static bool read_distance(const struct event_words *w, double *distance)
{
    return number_read(w->word[0], w->length[0], distance) == NUMBER_OK && *distance > 0;
}

/* Read the bodies from word k on: none, for all; a body, about the heaviest; or a body and another
 * one. `alone`: a body alone is allowed. */
static bool read_event_bodies(const struct particles *b, const struct event_words *w, size_t k,
                              bool alone, struct nbody_event_rule *r)
{
    const bool all = w->n == k || (w->n > k && w->length[k] == 3 && !memcmp(w->word[k], "all", 3));
    r->body = r->other = 0;
    if (w->n == k)
        return true;
    if (w->n == k + 1 && !alone)
        return false;
    r->other = particles_heaviest(b);
    if ((w->n == k + 2 && !find_word(b, w, k + 1, &r->other)) ||
        (!all && !find_word(b, w, k, &r->body)) || w->n > k + 2)
        return false;
    r->body = all ? r->other : r->body;
    return all || r->body != r->other;
}

/* Parse a rule; return the number of rules that it makes, 0 if it is wrong. */
static size_t read_rule(const struct particles *b, const char *text, struct nbody_event_rule r[2],
                        char *why)
{
    struct event_words w = {.why = why};
    const size_t kind = strcspn(text, ":");
    if (!text[kind] || !split_words(text + kind + 1, &w))
        return 0;
    *r = (struct nbody_event_rule){.kind = NBODY_ENCOUNTER};
    if (kind == 9 && memcmp(text, "encounter", kind) == 0)
        return read_distance(&w, &r->limit) && read_event_bodies(b, &w, 1, false, r);
    r->kind = NBODY_ESCAPE;
    if (kind == 6 && memcmp(text, "escape", kind) == 0)
        return read_distance(&w, &r->limit) && read_event_bodies(b, &w, 1, false, r);
    r->kind = NBODY_TRANSIT;
    if (kind == 7 && memcmp(text, "transit", kind) == 0) {
        r->axis = *w.word[0] - 'x';
        return w.length[0] == 1 && r->axis >= 0 && r->axis < 3 && w.n > 1 &&
               read_event_bodies(b, &w, 1, true, r);
    }
    r->kind = NBODY_PERICENTRE;
    if (kind != 5 || memcmp(text, "apsis", kind) != 0 || !read_event_bodies(b, &w, 0, true, r))
        return 0;
    r[1] = r[0];
    r[1].kind = NBODY_APOCENTRE;
    return 2;
}

/* Append the rules of an option. */
static int add_rules(struct nbody_job *job, const struct cli_strings *texts, const char *option,
                     bool stop)
{
    for (size_t k = 0; k < texts->n; k++) {
        struct nbody_event_rule *const next = job->rules.rule + job->rules.n;
        char why[NBODY_WHY] = "";
        const size_t more = read_rule(&job->bodies, texts->item[k], next, why);
        if (more == 0 && *why)
            return cli_wrong("%s: '%s': %s", option, texts->item[k], why);
        if (more == 0)
            return cli_wrong(
                "%s: '%s' is not a rule for %zu bodies; give encounter:D[,A,B], apsis:A[,B], transit:AXIS,A[,B] or escape:D[,A,B], with a distance D > 0 and names of bodies (in quotes if they have a comma) or numbers from 1",
                option, texts->item[k], job->bodies.n);
        for (size_t l = 0; l < more; l++)
            next[l].stop = stop;
        job->rules.n += more;
    }
    return CLI_DONE;
}

int nbody_events_plan(struct nbody_job *job)
{
    const size_t texts = job->event_rules.n + job->stop_rules.n;
    job->rules.rule = cli_alloc(2 * texts + 1, sizeof *job->rules.rule);
    const int status = add_rules(job, &job->event_rules, "--event", false);
    return status == CLI_DONE ? add_rules(job, &job->stop_rules, "--stop-event", true) : status;
}

int nbody_events_begin_run(struct nbody_job *job)
{
    if (nbody_watch_events(job->engine, job->rules.n, job->rules.rule) == 0 || !job->rules.n)
        return CLI_DONE;
    return cli_failed_call(NULL);
}

/* Append an event. One that stops ends the run. */
static void add_found(struct nbody_job *job, const struct nbody_event_record *r)
{
    const struct nbody_event_rule *const rule = &job->rules.rule[r->rule];
    const bool origin = rule->kind == NBODY_ESCAPE && r->body == r->other;
    const double time = r->time, x = r->pos[0], y = r->pos[1], z = r->pos[2],
                 other = origin ? 0 : (double)r->other + 1;
    job->found.row = cli_realloc(job->found.row, job->found.n + 1, sizeof *job->found.row);
    const double value[NBODY_FOUND_NUMBERS] = {
        time,      (double)r->body + 1, other,    sqrt(x * x + y * y + z * z), x, y, z,
        r->vel[0], r->vel[1],           r->vel[2]};
    struct nbody_found *const row = &job->found.row[job->found.n++];
    memset(row, 0, sizeof *row); /* checkpoints have its padding */
    memcpy(row->value, value, sizeof value);
    row->kind = rule->kind;
    if (rule->stop && !*job->stopped)
        snprintf(job->stopped, sizeof job->stopped, "%s of body %zu at time %.15g (--stop-event)",
                 event_names[rule->kind], r->body + 1, time);
}

void nbody_events_visit(struct nbody_job *job)
{
    size_t n;
    const struct nbody_event_record *r = nbody_events(job->engine, &n);
    for (size_t k = 0; k < n; k++)
        add_found(job, &r[k]);
}

int nbody_events_write(struct nbody_job *job)
{
    static const char *const column[] = {"time", "body", "other", "distance", "x",    "y",
                                         "z",    "vx",   "vy",    "vz",       "event"};
    struct csv csv = {.columns = 0};
    int failed = csv_open(&csv, job->event_file, 11, column);
    for (size_t k = 0; k < job->found.n && !failed; k++)
        failed = csv_row_text(&csv, job->found.row[k].value, event_names[job->found.row[k].kind]);
    if (!failed)
        failed = csv_close(&csv);
    csv_discard(&csv);
    return failed ? cli_failed_call(NULL) : CLI_DONE;
}
