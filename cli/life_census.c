/* life_census.c - `stdcl life census`: count the objects that random soups leave.
 *
 * Each rank runs its part of the soups. Ranks send their counts as text; rank 0 adds them.
 * SPDX-License-Identifier: MIT
 */
#include "command.h"
#include "common.h"
#include "device.h"
#include "files.h"
#include "interrupt.h"
#include "json.h"
#include "alloc.h"
#include "message.h"
#include "progress.h"
#include "ranks.h"
#include "report.h"
#include "text.h"
#include "usage.h"
#include "life_md5.h"
#include "life_run.h"

#include "stdcl/census.h"

#include "core/clock.h"
#include "core/outfile.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdcl.h>
#include <stdcl/world.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SOUPS = 10000, SIDE = 16, MOST_LINES = 40 };

/* Counts of the Online Life-Like CA Soup Search (N. Johnston, 2009 to 2011): 6,412,048,029 soups
 * of 20 x 20 cells, 174,631,866,050 objects
 * (conwaylife.com/wiki/The_Online_Life-Like_CA_Soup_Search). */
static const double PUBLISHED_OBJECTS = 174631866050.0;
static const struct {
    const char *code, *name;
    double count;
} published[] = {
    {"xs4_33", "block", 53959478938.0},
    {"xp2_7", "blinker", 50020081424.0},
    {"xs6_696", "beehive", 28711165591.0},
    {"xs7_2596", "loaf", 8548699569.0},
    {"xs5_253", "boat", 7904985775.0},
    {"xs6_356", "ship", 5277995002.0},
    {"xs4_252", "tub", 1728871846.0},
    {"xs8_6996", "pond", 1660831825.0},
    {"xs7_25ac", "long boat", 550393656.0},
    {"xp2_7e", "toad", 387698003.0},
    {"xs12_g8o653z11", "ship-tie", 272858125.0},
    {"xp2_318c", "beacon", 120561432.0},
    {"xs6_25a4", "barge", 0},
    {"xs6_39c", "aircraft carrier", 0},
    {"xs6_bd", "snake", 0},
    {"xs7_178c", "eater", 0},
    {"xs8_69ic", "mango", 0},
    {"xs14_69bqic", "paperclip", 0},
    {"xq4_153", "glider", 0},
    {"xq4_6frc", "LWSS", 0},
    {"xq4_27dee6", "MWSS", 0},
    {"xq4_27deee6", "HWSS", 0},
    {"xp3_co9nas0san9oczgoldlo0oldlogz1047210127401", "pulsar", 0},
    {"xp15_4r4z4r4", "pentadecathlon", 0},
};

struct census {
    struct life_job *job;
    life_census *engine;
    struct life_census_totals sums;
    const struct life_object *object;
    size_t objects;
    double seconds;
    char *texts;              /* counts of all ranks */
    struct life_object *list; /* their sums; texts has the codes */
};

static bool is_life(const struct life_job *job)
{
    return strcmp(job->rule, "B3/S23") == 0;
}

/* True if the published frequencies apply: B3/S23 and soups without symmetry. */
static bool is_published(const struct life_job *job)
{
    return is_life(job) && (!job->symmetry || strcmp(job->symmetry, "C1") == 0);
}

/* Index of an object in published[]; -1: none. */
static int published_index(const struct life_job *job, const char *code)
{
    for (size_t i = 0; i < sizeof published / sizeof *published && is_life(job); i++)
        if (strcmp(published[i].code, code) == 0)
            return (int)i;
    return -1;
}

const char *life_object_name(const struct life_job *job, const char *code)
{
    const int i = published_index(job, code);
    return i < 0 ? NULL : published[i].name;
}

/* ---- Plan. --------------------------------------------------------------------------------- */

int life_census_check(const struct life_job *job)
{
    if (job->size.width > 64 || job->size.height > 64)
        return cli_wrong("--size: a soup of a census has at most 64 x 64 cells, not %zu x %zu",
                         job->size.width, job->size.height);
    for (size_t i = 0; i < job->outputs.names.n; i++)
        if (cli_output_kind(job->outputs.names.item[i]) != CLI_OUTPUT_TABLE)
            return cli_wrong("-o %s: a census writes only a table of objects: FILE.csv",
                             job->outputs.names.item[i]);
    if (job->outputs.names.n + (job->csv != NULL) > 1)
        return cli_wrong("only one table of objects can be written");
    if (job->generations == 0)
        return cli_wrong("a census needs at least one generation; give --generations 1 or more");
    return CLI_DONE;
}

static int plan_census(struct life_job *job)
{
    if (strchr(job->rule_text ? job->rule_text : "", ':'))
        return cli_wrong("--rule: the soups of a census run on an unbounded plane; omit %s",
                         strchr(job->rule_text, ':'));
    if (job->rule_text && cli_has_suffix(job->rule_text, ".rule"))
        return cli_wrong(
            "--rule: a census needs a rule such as B3/S23; it does not support rule files such as %s",
            job->rule_text);
    const char *rule = job->rule_text ? job->rule_text : "B3/S23";
    life_transitions *named = life_transitions_named(rule);
    const unsigned states = named ? life_transitions_states(named) : 2;
    life_transitions_free(named);
    if (states > 2)
        return cli_wrong(
            "--rule: a census needs a rule of two states or of Generations, but %s has "
            "%u states of another kind",
            rule, states);
    if (life_rule_normal(rule, job->rule) < 0)
        return cli_wrong("--rule: %s", clerror());
    if (!job->soups)
        job->soups = SOUPS;
    if (!job->size.width)
        job->size = (struct life_size){SIDE, SIDE};
    if (!job->csv && job->outputs.names.n)
        job->csv = job->outputs.names.item[0];
    int status = job->haul ? cli_check_output(job->haul) : CLI_DONE;
    if (status != CLI_DONE || !job->csv)
        return status;
    status = cli_check_table("--csv", job->csv);
    if (status != CLI_DONE)
        return status;
    return cli_check_output(job->csv);
}

static int census_progress(void *arg, double fraction)
{
    struct life_job *job = arg;
    cli_progress_update(&job->progress, fraction * job->progress.total, NULL);
    return cli_interrupted();
}

/* ---- Ranks. ---------------------------------------------------------------------------------- */

/* The sum over soups of squared counts, which is an integer, from the standard error of their sum
 * (life_census_objects). */
static double sum_of_squares(double error, uint64_t count, uint64_t soups)
{
    return soups ? nearbyint(error * error + (double)count * (double)count / (double)soups) : 0;
}

static double error_of_sum(double squares, uint64_t count, uint64_t soups)
{
    return soups ? sqrt(fmax(squares - (double)count * (double)count / (double)soups, 0)) : 0;
}

/* Replace standard errors by sums over soups, which ranks can add. objects_error: squares of a
 * soup's number of objects; error: squares of a soup's count of this object; share_error: products
 * of both numbers. */
static void errors_to_sums(struct census *s)
{
    const double all = (double)s->sums.objects;
    s->sums.objects_error = sum_of_squares(s->sums.objects_error, s->sums.objects, s->sums.soups);
    for (size_t i = 0; i < s->objects; i++) {
        struct life_object *o = (struct life_object *)s->object + i;
        const double deviation = o->share_error * all;
        o->error = sum_of_squares(o->error, o->count, s->sums.soups);
        o->share_error = nearbyint(
            (o->error + o->share * o->share * s->sums.objects_error - deviation * deviation) /
            (2 * o->share));
    }
}

static void sums_to_errors(struct census *s)
{
    const double all = (double)s->sums.objects;
    for (size_t i = 0; i < s->objects; i++) {
        struct life_object *o = &s->list[i];
        o->share = (double)o->count / all;
        o->share_error = sqrt(fmax(o->error - 2 * o->share * o->share_error +
                                       o->share * o->share * s->sums.objects_error,
                                   0)) /
                         all;
        o->error = error_of_sum(o->error, o->count, s->sums.soups);
    }
    s->sums.objects_error = error_of_sum(s->sums.objects_error, s->sums.objects, s->sums.soups);
}

/* Write this rank's counts as text, one line per object; from malloc. */
static char *counts_as_text(const struct census *s)
{
    char *text = NULL;
    size_t size;
    FILE *fp = open_memstream(&text, &size);
    if (!fp)
        return NULL;
    fprintf(fp, "%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %.17g\n", s->sums.soups,
            s->sums.objects, s->sums.generations, s->sums.undecided, s->sums.objects_error);
    for (size_t i = 0; i < s->objects; i++) {
        const struct life_object *o = &s->object[i];
        fprintf(fp, "%s %u %d %d %" PRIu64 " %.17g %.17g %" PRIu64 "\n", o->code, o->period, o->dx,
                o->dy, o->count, o->error, o->share_error, o->soup);
    }
    if (fclose(fp) == 0)
        return text;
    free(text);
    return NULL;
}

static int compare_counts(const void *a, const void *b)
{
    const struct life_object *x = a, *y = b;
    return x->count != y->count ? (x->count < y->count) - (x->count > y->count)
                                : strcmp(x->code, y->code);
}

/* Add one line of counts. */
static void add_counts(struct census *s, struct life_object *list, char *line)
{
    struct life_object o = {.code = line};
    char *rest = strchr(line, ' ');
    if (!rest)
        return;
    *rest = '\0';
    if (sscanf(rest + 1, "%u %d %d %" SCNu64 " %lg %lg %" SCNu64, &o.period, &o.dx, &o.dy, &o.count,
               &o.error, &o.share_error, &o.soup) != 7)
        return;
    size_t i = 0;
    while (i < s->objects && strcmp(list[i].code, o.code))
        i++;
    if (i == s->objects) {
        list[s->objects++] = o;
        return;
    }
    list[i].count += o.count;
    list[i].error += o.error;
    list[i].share_error += o.share_error;
    list[i].soup = o.soup < list[i].soup ? o.soup : list[i].soup;
}

/* Add the counts of all ranks on rank 0. */
static int add_counts_of_ranks(struct census *s)
{
    const int ranks = world_size(cli_world);
    size_t lines = 0;
    errors_to_sums(s);
    char *own = counts_as_text(s);
    s->texts = own ? cli_ranks_gather(own) : NULL;
    free(own);
    if (!s->texts)
        return cli_failed("out of memory for the counts of the ranks");
    char *text = s->texts;
    for (int rank = 0; rank < ranks; rank++, text += strlen(text) + 1)
        for (const char *c = text; *c; c++)
            lines += *c == '\n';
    s->list = cli_alloc(lines + 1, sizeof *s->list);
    s->objects = 0;
    s->sums = (struct life_census_totals){.soups = 0};
    text = s->texts;
    for (int rank = 0; rank < ranks; rank++) {
        char *end = text + strlen(text);
        struct life_census_totals sums = {.soups = 0};
        sscanf(text, "%" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %lg", &sums.soups,
               &sums.objects, &sums.generations, &sums.undecided, &sums.objects_error);
        s->sums.objects_error += sums.objects_error;
        s->sums.soups += sums.soups;
        s->sums.objects += sums.objects;
        s->sums.generations += sums.generations;
        s->sums.undecided += sums.undecided;
        for (char *line = strchr(text, '\n'); line && ++line < end;) {
            char *next = strchr(line, '\n');
            if (next)
                *next = '\0';
            add_counts(s, s->list, line);
            line = next;
        }
        text = end + 1;
    }
    sums_to_errors(s);
    qsort(s->list, s->objects, sizeof *s->list, compare_counts);
    s->object = s->list;
    s->job->interrupted = s->sums.soups + s->sums.undecided < s->job->soups; /* on any rank */
    return CLI_DONE;
}

/* ---- The report. ----------------------------------------------------------------------------- */

static int write_census_table(const struct census *s)
{
    struct outfile out;
    if (!s->job->csv || !cli_ranks_first())
        return CLI_DONE;
    if (outfile_open(&out, s->job->csv) < 0)
        return cli_failed_call(NULL);
    fprintf(out.fp, "object,period,dx,dy,count,count_error,share,share_error,first_soup\n");
    for (size_t i = 0; i < s->objects; i++) {
        const struct life_object *o = &s->object[i];
        fprintf(out.fp, "%s,%u,%d,%d,%" PRIu64 ",%.6g,%.10g,%.6g,%" PRIu64 "\n", o->code, o->period,
                o->dx, o->dy, o->count, o->error, o->share, o->share_error, o->soup);
    }
    return outfile_commit(&out) < 0 ? cli_failed_call(NULL) : CLI_DONE;
}

/* Write a rule as Catagolue does: b3s23, and g4b2s345 for 345/2/4. */
static void put_rule(const char *rule, FILE *fp)
{
    const char *birth = strchr(rule, '/'), *states = birth ? strchr(birth + 1, '/') : NULL;
    const size_t digits = states ? strspn(states + 1, "0123456789") : 0;
    char text[LIFE_RULE_TEXT + 4];
    const bool base64 = strncmp(rule, "MAP", 3) == 0;
    if (base64)
        fputs(rule, fp);
    else if (states)
        snprintf(text, sizeof text, "g%.*sb%.*ss%.*s%s", (int)digits, states + 1,
                 (int)(states - birth - 1), birth + 1, (int)(birth - rule), rule,
                 states + 1 + digits);
    else
        snprintf(text, sizeof text, "%s", rule);
    for (const char *p = text; !base64 && *p; p++)
        if (*p != '/')
            fputc(tolower((unsigned char)*p), fp);
}

/* Order of a haul: by count, then by name, both descending. */
static int compare_for_haul(const void *a, const void *b)
{
    const struct life_object *x = a, *y = b;
    return x->count != y->count ? (x->count < y->count) - (x->count > y->count)
                                : strcmp(y->code, x->code);
}

static void put_haul(const struct census *s, const struct life_object *object, FILE *fp)
{
    const struct life_job *job = s->job;
    char digest[MD5_TEXT];
    md5_of_text(job->root, digest);
    fprintf(fp, "@VERSION stdcl-" STDCL_VERSION "\n@MD5 %s\n@ROOT %s\n@RULE ", digest, job->root);
    put_rule(job->rule, fp);
    fprintf(fp,
            "\n@SYMMETRY %s\n@NUM_SOUPS %" PRIu64 "\n@NUM_OBJECTS %" PRIu64 "\n\n@CENSUS TABLE\n",
            job->symmetry ? job->symmetry : "C1", s->sums.soups, s->sums.objects);
    for (size_t i = 0; i < s->objects; i++)
        fprintf(fp, "%s %" PRIu64 "\n", object[i].code, object[i].count);
    fprintf(fp, "\n@SAMPLE_SOUPIDS\n");
    for (size_t i = 0; i < s->objects; i++)
        fprintf(fp, "%s %" PRIu64 "\n", object[i].code, object[i].soup);
}

/* Write apgsearch's format, with the first soup of each object. The format cannot mark an
 * interrupted census, whose counts are biased: it lacks the long-lived soups in flight. */
static int write_haul(const struct census *s)
{
    const struct life_job *job = s->job;
    struct outfile out;
    if (!job->haul || !cli_ranks_first())
        return CLI_DONE;
    if (job->interrupted) {
        cli_warn("%s: no haul is written, because the interrupted census lacks long-lived soups",
                 job->haul);
        return CLI_DONE;
    }
    if (outfile_open(&out, job->haul) < 0)
        return cli_failed_call(NULL);
    struct life_object *object = cli_alloc(s->objects + 1, sizeof *object);
    memcpy(object, s->object, s->objects * sizeof *object);
    qsort(object, s->objects, sizeof *object, compare_for_haul);
    put_haul(s, object, out.fp);
    free(object);
    return outfile_commit(&out) < 0 ? cli_failed_call(NULL) : CLI_DONE;
}

static int census_report_json(const struct census *s, const char *device)
{
    const struct life_job *job = s->job;
    json_t *list = json_array(), *undecided = json_array();
    for (size_t i = 0; i < s->objects; i++) {
        const struct life_object *o = &s->object[i];
        const int k = published_index(job, o->code);
        json_array_append_new(
            list, json_pack("{s:s, s:s?, s:I, s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:I}", "object",
                            o->code, "name", k < 0 ? NULL : published[k].name, "period",
                            (json_int_t)o->period, "dx", (json_int_t)o->dx, "dy", (json_int_t)o->dy,
                            "count", (json_int_t)o->count, "count_error", cli_json_real(o->error),
                            "share", cli_json_real(o->share), "share_error",
                            cli_json_real(o->share_error), "published_share",
                            k >= 0 && published[k].count > 0
                                ? cli_json_real(published[k].count / PUBLISHED_OBJECTS)
                                : json_null(),
                            "first_soup", (json_int_t)o->soup));
    }
    for (size_t i = 0; i < s->sums.undecided &&
                       i < sizeof s->sums.undecided_soup / sizeof *s->sums.undecided_soup &&
                       world_size(cli_world) == 1;
         i++)
        json_array_append_new(undecided, json_integer((json_int_t)s->sums.undecided_soup[i]));
    json_t *census_report = json_pack(
        "{s:s, s:s, s:s, s:s, s:I, s:I, s:s, s:s?, s:I, s:I, s:I, s:o, s:I, s:I, s:o, s:o, s:o, s:o, s:b}",
        "program", "life", "census", "soups", "device", device, "rule", job->rule, "width",
        (json_int_t)job->size.width, "height", (json_int_t)job->size.height, "symmetry",
        job->symmetry ? job->symmetry : "C1", "root", job->root, "seed", (json_int_t)job->seed,
        "soups", (json_int_t)s->sums.soups, "objects", (json_int_t)s->sums.objects, "objects_error",
        cli_json_real(s->sums.objects_error), "generations", (json_int_t)s->sums.generations,
        "undecided", (json_int_t)s->sums.undecided, "undecided_soups", undecided, "seconds",
        cli_json_real(s->seconds), "soups_per_s", cli_json_real((double)s->sums.soups / s->seconds),
        "census_objects", list, "interrupted", job->interrupted);
    const int status = cli_json_print(census_report);
    json_decref(census_report);
    return status;
}

static void print_objects(const struct census *s, FILE *fp)
{
    struct text_table *table =
        text_table_create(is_published(s->job) ? "~object|name|>count|>share|>1error|>2published"
                                               : "~object|name|>count|>share|>1error");
    for (size_t i = 0; i < s->objects && i < MOST_LINES; i++) {
        const struct life_object *o = &s->object[i];
        const int k = published_index(s->job, o->code);
        text_table_add(table, "%s", o->code);
        text_table_add(table, "%s", k < 0 ? "" : published[k].name);
        text_table_add(table, "%" PRIu64, o->count);
        text_table_add(table, "%.4g %%", 100 * o->share);
        text_table_add(table, "%.2g %%", 100 * o->share_error);
        if (is_published(s->job) && k >= 0 && published[k].count > 0)
            text_table_add(table, "%.4g %%", 100 * published[k].count / PUBLISHED_OBJECTS);
        else if (is_published(s->job))
            text_table_add(table, "%s", "");
    }
    cli_table_end(table, fp, terminal_columns(fp));
    if (s->objects > MOST_LINES)
        fprintf(fp, "and %zu rarer objects; --csv FILE writes all\n", s->objects - MOST_LINES);
    if (is_published(s->job))
        cli_named_line(fp, "published",
                       "in 6.4e9 soups of 20x20 cells, by The Online Life-Like CA Soup Search");
}

static void census_report_text(const struct census *s, const char *device, FILE *to)
{
    const struct life_job *job = s->job;
    struct cli_text text;
    struct cli_report report;
    FILE *fp = cli_report_begin(&report, to, 14);
    fprintf(fp, "%-14s%s\n", "device", device);
    fprintf(fp, "%-14s%" PRIu64 " of %zu x %zu cells, ", "soups", s->sums.soups, job->size.width,
            job->size.height);
    if (job->symmetry)
        fprintf(fp, "symmetry %s, ", job->symmetry);
    if (job->root)
        fprintf(fp, "root %s, %s\n", job->root, job->rule);
    else
        fprintf(fp, "seed %" PRIu64 ", %s\n", job->seed, job->rule);
    const double soups = s->sums.soups ? (double)s->sums.soups : 1;
    fprintf(fp, "%-14s%" PRIu64 " of %zu kinds; %.4g per soup, +- %.2g\n", "objects",
            s->sums.objects, s->objects, (double)s->sums.objects / soups,
            s->sums.objects_error / soups);
    if (s->sums.undecided) {
        fprintf(fp, "%-14s%" PRIu64 " more soups, which keep growing or changing", "undecided",
                s->sums.undecided);
        for (size_t i = 0; i < s->sums.undecided &&
                           i < sizeof s->sums.undecided_soup / sizeof *s->sums.undecided_soup &&
                           world_size(cli_world) == 1;
             i++)
            fprintf(fp, "%s%" PRIu64, i ? ", " : ": number ", s->sums.undecided_soup[i]);
        fprintf(fp, "\n");
    }
    fprintf(fp, "%-14s%s\n", "duration", cli_text_duration(&text, s->seconds));
    fprintf(fp, "%-14s%s\n", "speed",
            cli_text_rate(&text, (double)s->sums.soups / s->seconds, "soups/s"));
    if (job->interrupted) {
        cli_interrupt_report(s->sums.soups + s->sums.undecided, job->soups, "soups", fp);
        fprintf(fp, "%-14sunfinished soups, which live longer than most, are not counted\n", "");
    }
    cli_report_end(&report, fp);
    fprintf(to, "\n");
    print_objects(s, to);
}

/* Collective: the names of the devices are. */
static int census_report(const struct census *s)
{
    char *device = cli_devices_name(s->job->context);
    int status = CLI_DONE;
    if (cli_ranks_first() && s->job->common.json)
        status = census_report_json(s, device ? device : "");
    else if (cli_ranks_first() && !s->job->common.quiet)
        census_report_text(s, device ? device : "", cli_stdout_is_taken() ? stderr : stdout);
    free(device);
    return status;
}

/* ---- The census. ----------------------------------------------------------------------------- */

static int count_soups(struct census *s)
{
    struct life_job *job = s->job;
    const uint64_t ranks = (uint64_t)world_size(cli_world), rank = (uint64_t)world_rank(cli_world);
    const uint64_t first =
        job->soups / ranks * rank + (rank < job->soups % ranks ? rank : job->soups % ranks);
    const uint64_t n = job->soups / ranks + (rank < job->soups % ranks);
    const struct life_census_options options = {
        .ctx = job->context,
        .rule = job->rule,
        .width = job->size.width,
        .height = job->size.height,
        .density = job->density,
        .seed = job->seed,
        .symmetry = job->symmetry,
        .root = job->root,
        .first = first,
        .progress = census_progress,
        .arg = job,
        .generations = job->generations == UINT64_MAX ? 0 : job->generations};
    s->engine = life_census_create(&options);
    if (!s->engine)
        return cli_refused_call();
    cli_interrupt_catch();
    cli_progress_start(&job->progress, "soups", (double)n, job->common.quiet);
    const double began = seconds_now();
    const int called = n ? life_census_run(s->engine, n) : 0;
    s->seconds = seconds_now() - began;
    cli_progress_end(&job->progress);
    if (called < 0 && clerrno != ECANCELED)
        return cli_failed_call(NULL);
    job->interrupted = called < 0;
    life_census_total(s->engine, &s->sums);
    s->object = life_census_objects(s->engine, &s->objects);
    return s->object ? CLI_DONE : cli_failed_call(NULL);
}

static int count_and_report(void *census)
{
    struct census *s = census;
    int status = count_soups(s);
    if (status != CLI_DONE)
        return status;
    if (world_size(cli_world) > 1 && (status = add_counts_of_ranks(s)) != CLI_DONE)
        return status;
    cli_outputs_keep_status(&s->job->outputs, NULL, write_census_table(s));
    cli_outputs_keep_status(&s->job->outputs, NULL, write_haul(s));
    return census_report(s);
}

int life_census_run_job(struct life_job *job)
{
    struct census s = {.job = job};
    int status = plan_census(job);
    status = status == CLI_DONE ? life_job_on_devices(job, true, count_and_report, &s) : status;
    cli_ranks_fail(status);
    life_census_free(s.engine);
    free(s.list);
    free(s.texts);
    return status;
}
