/* life_sweep.c - `stdcl life sweep`: the fate of random soups under many rules.
 *
 * A file of rules has one rule a line: of two states on the nearest neighbours, or of Generations.
 * Blank lines and lines that begin with # are skipped. Without a file, all 2^17 rules of the B/S
 * family without B0 are swept.
 * SPDX-License-Identifier: MIT
 */
#include "alloc.h"
#include "command.h"
#include "common.h"
#include "device.h"
#include "files.h"
#include "interrupt.h"
#include "json.h"
#include "life_run.h"
#include "message.h"
#include "outputs.h"
#include "progress.h"
#include "report.h"
#include "text.h"

#include "core/clock.h"
#include "core/outfile.h"
#include "stdcl/sweep.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

enum { SOUPS_OF_A_RULE = 4, ALL_RULES = 1 << 17, CLASSES = 4 };
static const char *const classes[CLASSES] = {"extinct", "still", "periodic", "active"};

struct sweep_run {
    struct life_job *job;
    char **rule; /* in rule notation */
    struct life_sweep_result *result;
    size_t n, room; /* n: rules; after an interruption, those with a result */
    size_t given;   /* rules of the file */
    double seconds;
    size_t of_class[CLASSES];
};

/* ---- Rules. ---------------------------------------------------------------------------------- */

static void add_rule(struct sweep_run *s, const char *rule)
{
    if (s->n == s->room) {
        s->room = s->room ? 2 * s->room : 1024;
        s->rule = cli_realloc(s->rule, s->room, sizeof *s->rule);
    }
    char *copy = cli_alloc(strlen(rule) + 1, 1);
    s->rule[s->n] = strcpy(copy, rule);
    s->given = ++s->n;
}

/* Rewrite a rule of a sweep in canonical form. Else print why not, with the file's line. */
static int sweep_read_rule(const char *text, char rule[LIFE_RULE_TEXT], const char *name,
                           unsigned long line)
{
    life_transitions *named = life_transitions_named(text);
    const char *kind =
        named ? "annotated (History, Super, Investigator) or a named automaton" : NULL;
    life_transitions_free(named);
    if (!kind && life_rule_normal(text, rule) < 0)
        return cli_failed("%s: line %lu: %s", name, line, clerror());
    if (!kind && *rule == 'R')
        kind = "Larger than Life";
    else if (!kind && strchr(rule, '|'))
        kind = "of two rules that alternate";
    return !kind ? CLI_DONE
                 : cli_failed("%s: line %lu: '%.100s' is %s; a sweep has rules of the nearest "
                              "neighbours and Generations",
                              name, line, text, kind);
}

static int read_rule_lines(struct sweep_run *s, FILE *fp, const char *name)
{
    char *line = NULL;
    size_t size = 0;
    ssize_t length;
    int status = CLI_DONE;
    for (unsigned long number = 1; status == CLI_DONE && (length = getline(&line, &size, fp)) >= 0;
         number++) {
        char rule[LIFE_RULE_TEXT];
        if (strlen(line) != (size_t)length) {
            status = cli_failed("%s: line %lu: has a null byte; give a text file", name, number);
            break;
        }
        line[strcspn(line, "\r\n")] = '\0';
        const char *text = line + strspn(line, " \t");
        if (!*text || *text == '#')
            continue;
        status = sweep_read_rule(text, rule, name, number);
        if (status == CLI_DONE)
            add_rule(s, rule);
    }
    free(line);
    if (status == CLI_DONE && ferror(fp))
        status = cli_failed("%s: %s", name, strerror(errno));
    if (status == CLI_DONE && !s->n)
        status = cli_failed("%s: has no rule; write one a line, such as B36/S23", name);
    return status;
}

static int read_rules(struct sweep_run *s)
{
    const char *name = s->job->rules;
    if (!name) {
        for (unsigned i = 0; i < ALL_RULES; i++) {
            const struct life_rule rule = {(i & 0xff) << 1, i >> 8};
            char text[24];
            add_rule(s, life_rule_string(&rule, text));
        }
        return CLI_DONE;
    }
    if (strcmp(name, "-") == 0)
        return read_rule_lines(s, stdin, "standard input");
    FILE *fp = fopen(name, "re");
    if (!fp)
        return cli_failed("%s: %s; give a file with a rule a line", name, strerror(errno));
    const int status = read_rule_lines(s, fp, name);
    fclose(fp);
    return status;
}

/* ---- The report. ----------------------------------------------------------------------------- */

static int write_sweep_table(const struct sweep_run *s)
{
    struct outfile out;
    if (!s->job->csv)
        return CLI_DONE;
    if (outfile_open(&out, s->job->csv) < 0)
        return cli_failed_call(NULL);
    fprintf(out.fp, "rule,class,density,activity,extinct,settled,period\n");
    for (size_t i = 0; i < s->n; i++) {
        const struct life_sweep_result *r = &s->result[i];
        fprintf(out.fp, "%s,%s,%.9g,%.9g,%" PRIu32 ",%" PRIu32 ",%" PRIu32 "\n", s->rule[i],
                life_sweep_class(r), r->density, r->activity, r->extinct, r->settled, r->period);
    }
    return outfile_commit(&out) < 0 ? cli_failed_call(NULL) : CLI_DONE;
}

static int sweep_report_json(const struct sweep_run *s, const char *device)
{
    const struct life_job *job = s->job;
    json_t *rules = json_array();
    for (size_t i = 0; i < s->n; i++) {
        const struct life_sweep_result *r = &s->result[i];
        json_array_append_new(
            rules, json_pack("{s:s, s:s, s:o, s:o, s:I, s:I, s:o}", "rule", s->rule[i], "class",
                             life_sweep_class(r), "density", cli_json_real(r->density), "activity",
                             cli_json_real(r->activity), "extinct", (json_int_t)r->extinct,
                             "settled", (json_int_t)r->settled, "period",
                             r->period ? json_integer((json_int_t)r->period) : json_null()));
    }
    json_t *report = json_pack(
        "{s:s, s:s, s:I, s:I, s:I, s:o, s:o, s:o, s:b}", "program", "life", "device", device,
        "soups", (json_int_t)job->soups, "seed", (json_int_t)job->seed, "generations",
        (json_int_t)job->generations, "seconds", cli_json_real(s->seconds), "rules_per_s",
        cli_json_real((double)s->n / s->seconds), "sweep", rules, "interrupted", job->interrupted);
    const int status = cli_json_print(report);
    json_decref(report);
    return status;
}

static void sweep_report_text(const struct sweep_run *s, const char *device, FILE *fp)
{
    const struct life_job *job = s->job;
    struct cli_text text;
    fprintf(fp, "%-14s%s\n", "device", device);
    fprintf(fp, "%-14s%zu, each with %" PRIu64 " soups of %d x %d cells, seed %" PRIu64 "\n",
            "rules", s->n, job->soups, LIFE_SWEEP_SIDE, LIFE_SWEEP_SIDE, job->seed);
    fprintf(fp, "%-14s%" PRIu64 ", and up to %d to find a period\n", "generations",
            job->generations, LIFE_SWEEP_PERIOD);
    for (int i = 0; i < CLASSES; i++)
        fprintf(fp, "%-14s%zu rules\n", classes[i], s->of_class[i]);
    fprintf(fp, "%-14s%s\n", "duration", cli_text_duration(&text, s->seconds));
    fprintf(fp, "%-14s%s\n", "speed", cli_text_rate(&text, (double)s->n / s->seconds, "rules/s"));
    if (job->interrupted)
        cli_interrupt_report(s->n, s->given, "rules", fp);
    if (!job->csv)
        fprintf(fp, "%-14s--csv FILE writes each rule's class, density and period\n", "");
}

static int sweep_report(const struct sweep_run *s)
{
    char *device = cli_devices_name(s->job->context);
    int status = CLI_DONE;
    if (s->job->common.json)
        status = sweep_report_json(s, device ? device : "");
    else if (!s->job->common.quiet)
        sweep_report_text(s, device ? device : "", cli_stdout_is_taken() ? stderr : stdout);
    free(device);
    return status;
}

/* ---- The sweep. ------------------------------------------------------------------------------ */

static int sweep_progress(void *arg, double fraction)
{
    const struct sweep_run *s = arg;
    cli_progress_update(&s->job->progress, fraction * (double)s->given, NULL);
    return cli_interrupted();
}

/* Remove the rules without results, after an interruption. */
static void keep_done_rules(struct sweep_run *s)
{
    s->n = 0;
    for (size_t i = 0; i < s->given; i++)
        if (s->result[i].soups) {
            char *rule = s->rule[s->n];
            s->rule[s->n] = s->rule[i];
            s->rule[i] = rule;
            s->result[s->n++] = s->result[i];
        }
}

static int sweep_rules_of(struct sweep_run *s)
{
    struct life_job *job = s->job;
    const struct life_sweep_options options = {.ctx = job->context,
                                               .soups = (unsigned)job->soups,
                                               .density = job->density,
                                               .seed = job->seed,
                                               .generations = (uint32_t)job->generations,
                                               .progress = sweep_progress,
                                               .arg = s};
    s->result = cli_alloc(s->n, sizeof *s->result);
    cli_interrupt_catch();
    cli_progress_start(&job->progress, "rules", (double)s->n, job->common.quiet);
    const double began = seconds_now();
    const int called = life_sweep(&options, (const char *const *)s->rule, s->given, s->result);
    s->seconds = seconds_now() - began;
    cli_progress_end(&job->progress);
    if (called < 0 && clerrno != ECANCELED)
        return cli_failed_call(NULL);
    job->interrupted = called < 0;
    keep_done_rules(s);
    for (size_t i = 0; i < s->n; i++)
        for (int k = 0; k < CLASSES; k++)
            s->of_class[k] += strcmp(classes[k], life_sweep_class(&s->result[i])) == 0;
    return CLI_DONE;
}

static int sweep_and_report(void *sweep)
{
    struct sweep_run *s = sweep;
    const int status = sweep_rules_of(s);
    if (status != CLI_DONE)
        return status;
    cli_outputs_keep_status(&s->job->outputs, NULL, write_sweep_table(s));
    return sweep_report(s);
}

int life_sweep_check(struct life_job *job)
{
    if (job->soups > 65536)
        return cli_wrong("--soups: a rule of a sweep has at most 65536 soups, not %" PRIu64,
                         job->soups);
    if (job->generations != UINT64_MAX && (!job->generations || job->generations > UINT32_MAX))
        return cli_wrong("--generations: a sweep has 1 to %" PRIu32 ", not %" PRIu64, UINT32_MAX,
                         job->generations);
    job->soups = job->soups ? job->soups : SOUPS_OF_A_RULE;
    job->generations = job->generations != UINT64_MAX ? job->generations : 1000;
    if (!job->csv)
        return CLI_DONE;
    const int status = cli_check_table("--csv", job->csv);
    return status != CLI_DONE ? status : cli_check_output(job->csv);
}

/* True if a rule is of the B/S family: devices compute it. The host computes rules of other
 * families. */
static bool sweep_needs_device(const struct sweep_run *s)
{
    struct life_rule counts;
    for (size_t i = 0; i < s->n; i++)
        if (life_rule_parse(s->rule[i], &counts) == 0)
            return true;
    return false;
}

static int sweep_work(struct sweep_run *s)
{
    const struct cli_common *common = &s->job->common;
    const bool needed = sweep_needs_device(s);
    if (!needed && (common->device.n || common->profile.wanted || common->trace))
        cli_warn("--device, --profile and --trace apply only to rules of the B/S family; the host "
                 "computes all rules of this sweep");
    return life_job_on_devices(s->job, needed, sweep_and_report, s);
}

int life_sweep_job(struct life_job *job)
{
    struct sweep_run s = {.job = job};
    int status = read_rules(&s);
    status = status == CLI_DONE ? sweep_work(&s) : status;
    for (size_t i = 0; i < s.given; i++)
        free(s.rule[i]);
    free(s.rule);
    free(s.result);
    return status;
}
