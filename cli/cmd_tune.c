/* cmd_tune.c - `stdcl tune`: search the best launch shapes of kernels on this machine's devices.
 *
 * Engines declare their kernels (NAME_tune_kernels); the layer searches. This file chooses what
 * is searched for how long, and stores each result at once, so that Ctrl-C loses nothing.
 * SPDX-License-Identifier: MIT
 */
#include "command.h"
#include "common.h"
#include "device.h"
#include "files.h"
#include "interrupt.h"
#include "alloc.h"
#include "message.h"
#include "progress.h"
#include "text.h"
#include "usage.h"
#include "tune_job.h"

#include "core/clock.h"

#include <fnmatch.h>
#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdcl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- The kernels of all engines that are built. ---------------------------------------------- */

#define ENGINE(name) extern const struct cltune_kernel *name##_tune_kernels(size_t *count);
#include "tunables.inc"
#undef ENGINE

typedef const struct cltune_kernel *engine_kernels(size_t *count);
static engine_kernels *const engines[] = {
#define ENGINE(name) name##_tune_kernels,
#include "tunables.inc"

#undef ENGINE
};
enum { ENGINES = sizeof engines / sizeof *engines };

/* True if `name` is a kernel's name, its first words before a dot, or a pattern with * and ?. */
static bool name_matches(const char *kernel, const char *name)
{
    const size_t length = strlen(name);
    return fnmatch(name, kernel, 0) == 0 ||
           (strncmp(kernel, name, length) == 0 && kernel[length] == '.');
}

static bool is_wanted(const struct tune_job *job, const char *kernel)
{
    for (size_t i = 0; i < job->names.n; i++)
        if (name_matches(kernel, job->names.item[i]))
            return true;
    return job->names.n == 0;
}

/* Offer a kernel's name, or its first words, as the intended one. */
static void offer_kernel_name(struct cli_guess *guess, char *offered, size_t size,
                              const char *kernel)
{
    for (size_t length = strcspn(kernel, "."); *offered == 0;
         length += 1 + strcspn(kernel + length + 1, ".")) {
        char name[128];
        snprintf(name, sizeof name, "%.*s", (int)length, kernel);
        guess->best = NULL;
        cli_guess_offer(guess, name);
        if (guess->best)
            snprintf(offered, size, "%s", name);
        if (!kernel[length])
            break;
    }
}

/* Check that every name matches a kernel. */
static int check_kernel_names(const struct tune_job *job)
{
    for (size_t i = 0; i < job->names.n; i++) {
        struct cli_guess guess = {.word = job->names.item[i]};
        char list[1024] = "", offered[128] = "";
        bool found = false;
        for (size_t e = 0, n; e < ENGINES; e++) {
            const struct cltune_kernel *kernel = engines[e](&n);
            for (size_t k = 0; k < n; k++) {
                found = found || name_matches(kernel[k].name, job->names.item[i]);
                offer_kernel_name(&guess, offered, sizeof offered, kernel[k].name);
                cli_text_append(list, sizeof list, "%s%s", *list ? ", " : "", kernel[k].name);
            }
        }
        if (!found && *offered)
            return cli_wrong("no kernel is called '%s'; did you mean '%s'?", job->names.item[i],
                             offered);
        if (!found)
            return cli_wrong("no kernel is called '%s'; there are: %s", job->names.item[i], list);
    }
    return CLI_DONE;
}

/* ---- What is to be searched. ----------------------------------------------------------------- */

static int add_search(struct tune_job *job, const struct cltune_kernel *kernel, unsigned dev,
                      size_t size)
{
    job->search = cli_realloc(job->search, job->searches + 1, sizeof *job->search);
    struct tune_search *s = &job->search[job->searches++];
    *s = (struct tune_search){.kernel = kernel, .dev = dev, .size = size};
    if (cltune_find(job->context, dev, kernel->name, size, &s->before) < 0 ||
        (!*s->before.shape && kernel->like &&
         cltune_find(job->context, dev, kernel->like, size, &s->before) < 0))
        return cli_failed_call(NULL);
    return CLI_DONE;
}

static int add_sizes(struct tune_job *job, const struct cltune_kernel *kernel, unsigned dev)
{
    int status;
    for (size_t i = 0; job->size_texts.n == 0 && i < kernel->nsizes; i++)
        if ((status = add_search(job, kernel, dev, kernel->sizes[i])) != CLI_DONE)
            return status;
    for (size_t i = 0; i < job->size_texts.n; i++) {
        uint64_t size;
        if (cli_read_natural(job->size_texts.item[i], &size) != 0 || size == 0 || size > INT64_MAX)
            return cli_wrong("--size: '%s' is not a size; give a whole number of at least 1",
                             job->size_texts.item[i]);
        if ((status = add_search(job, kernel, dev, (size_t)size)) != CLI_DONE)
            return status;
    }
    return CLI_DONE;
}

/* True if an earlier device has this model and driver, and so shares its entries. */
static bool is_repeated(const struct tune_job *job, unsigned dev)
{
    for (unsigned d = 0; d < dev; d++)
        if (!strcmp(job->info[d].dev_name, job->info[dev].dev_name) &&
            !strcmp(job->info[d].dev_drv_version, job->info[dev].dev_drv_version))
            return true;
    return false;
}

static int plan_searches(struct tune_job *job)
{
    int status;
    for (unsigned dev = 0; dev < clgetndev(job->context); dev++)
        for (size_t e = 0, n; e < ENGINES && !is_repeated(job, dev); e++) {
            const struct cltune_kernel *kernel = engines[e](&n);
            for (size_t k = 0; k < n; k++)
                if (is_wanted(job, kernel[k].name) &&
                    (status = add_sizes(job, &kernel[k], dev)) != CLI_DONE)
                    return status;
        }
    return CLI_DONE;
}

/* Check that --as names a tuned device. */
static int check_as(const struct tune_job *job)
{
    for (unsigned dev = 0; job->export_as && dev < clgetndev(job->context); dev++)
        if (cltune_fits(job->context, dev, job->export_as) != 0)
            return cli_wrong("--as: %s", cli_reason());
    return CLI_DONE;
}

/* Create the directories of the user's file and check that it is writable, before minutes of
 * searching. */
static int check_store(const struct tune_job *job)
{
    const char *file = cltune_file();
    if (job->dry_run || job->list)
        return CLI_DONE;
    if (!file)
        return cli_failed(
            "cannot store the shapes found: set XDG_CACHE_HOME or HOME, or use --dry-run");
    char *folder = cli_alloc(1, strlen(file) + 1);
    strcpy(folder, file);
    for (char *p = strchr(folder + 1, '/'); p; p = strchr(p + 1, '/')) {
        *p = '\0';
        mkdir(folder, 0700);
        *p = '/';
    }
    free(folder);
    return cli_check_output(file);
}

/* ---- Searching. ------------------------------------------------------------------------------ */

struct search_watch {
    const struct tune_job *job;
    struct tune_search *search;
    struct cli_progress *progress;
};

static int tune_progress(void *arg, const struct cltune_progress *p)
{
    const struct search_watch *w = arg;
    struct tune_search *s = w->search;
    char note[256];
    struct cli_text best, before;
    s->tried = p->tried;
    s->refused = p->refused;
    s->wrong = p->wrong;
    s->rate_before = p->first_rate;
    snprintf(note, sizeof note, "%s, size %zu: %s, before %s; %.0f of %.0f s", s->kernel->name,
             s->size, cli_text_rate(&best, p->best_rate, s->kernel->unit),
             cli_text_rate(&before, p->first_rate, s->kernel->unit), p->elapsed, p->budget);
    cli_progress_update(w->progress, (double)(p->tried - p->refused), note);
    return cli_interrupted();
}

/* Store a result. A failure to store does not end the search: results may still be exported. */
static int store_result(struct tune_job *job, const struct tune_search *s)
{
    if (job->export_file)
        tune_export_add(job, s);
    if (job->dry_run)
        return CLI_DONE;
    if (cltune_store(job->context, s->dev, s->kernel->name, s->size, s->after.shape, s->rate_after,
                     s->kernel->unit) < 0)
        return cli_failed_call(NULL);
    job->stored = true;
    return CLI_DONE;
}

static int search_kernel(struct tune_job *job, struct tune_search *s, double budget)
{
    struct cli_progress progress;
    struct search_watch watch = {job, s, &progress};
    const double start = seconds_now();
    int status = CLI_DONE;
    cli_explain(&job->common, job->context, s->dev, s->before.source, s->before.shape);
    cli_progress_start(&progress, "shapes", 0, job->common.quiet);
    const int failed =
        cltune_search(s->kernel, job->context, s->dev, s->size, budget, (unsigned long)job->seed,
                      tune_progress, &watch, &s->after, &s->rate_after);
    cli_progress_end(&progress);
    s->seconds = seconds_now() - start;
    s->outcome = failed ? TUNE_IMPOSSIBLE : TUNE_FOUND;
    if (failed)
        s->why = strdup(cli_reason());
    else
        status = store_result(job, s);
    tune_report_result(job, s);
    return status;
}

/* Divide the remaining time equally among the remaining searches. */
static int search_kernels(struct tune_job *job)
{
    const double start = seconds_now(), budget = 60 * job->minutes;
    int status = CLI_DONE;
    bool any = false;
    cli_interrupt_catch_without_deadline();
    for (size_t i = 0; i < job->searches && !cli_interrupted(); i++) {
        const double left = budget - (seconds_now() - start);
        const int one =
            search_kernel(job, &job->search[i], fmax(0, left / (double)(job->searches - i)));
        status = cli_first_failure(status, one);
        any = any || job->search[i].outcome == TUNE_FOUND;
    }
    job->interrupted = cli_interrupted();
    if (!any && status == CLI_DONE && !job->interrupted)
        return cli_failed("%s", job->search[0].why);
    return status;
}

/* ---- The command. ---------------------------------------------------------------------------- */

static int tune_kernels(struct tune_job *job)
{
    int status = check_kernel_names(job);
    if (status != CLI_DONE)
        return status;
    if ((status = check_store(job)) != CLI_DONE)
        return status;
    if (job->export_file && (status = tune_export_open(job)) != CLI_DONE)
        return status;
    if ((status = cli_devices_open(&job->common.device, &job->context)) != CLI_DONE)
        return status;
    job->info = cli_alloc(clgetndev(job->context), sizeof *job->info);
    if (clgetdevinfo(job->context, job->info) < 0)
        return cli_failed_call(NULL);
    if ((status = check_as(job)) != CLI_DONE)
        return status;
    if ((status = plan_searches(job)) != CLI_DONE)
        return status;
    if (job->list)
        return tune_report_list(job);
    status = search_kernels(job);
    if (job->export_file && tune_export_write(job) != CLI_DONE)
        status = CLI_FAILED;
    status = cli_first_failure(status, tune_report_end(job));
    return cli_first_failure(status, cli_interrupt_status(CLI_DONE));
}

static const struct cli_combination tune_combinations[] = {
    CLI_EXCLUDES("profile trace", "tune", "a search runs hundreds of shapes"),
    CLI_EXCLUDES("list", "export", NULL),
    CLI_REQUIRES("as", "export", NULL),
    {NULL},
};

static bool parse_tune_options(struct tune_job *job, int argc, char **argv, int *status)
{
    struct cli_option options[] = {
        CLI_GROUP("Search"),
        CLI_REAL(0, "minutes", "M", &job->minutes, CLI_ABOVE_0, 1e6,
                 "total time of all searches, in minutes"),
        CLI_STRINGS(
            0, "size", "N", &job->size_texts,
            "problem size, such as the number of bodies, repeatable (default: each kernel's own sizes)"),
        CLI_U64(0, "seed", "SEED", &job->seed, 0, UINT32_MAX,
                "seed of the random choice of candidates"),
        CLI_FLAG(0, "list", &job->list,
                 "list the kernels and the entries in use, without searching"),
        CLI_FLAG(0, "dry-run", &job->dry_run, "search without storing the results"),
        CLI_GROUP("Output"),
        CLI_STRING(
            0, "export", "FILE", &job->export_file,
            "file of tuning entries, in the format that stdcl ships, to add the results to; its entries for other kernels and devices stay"),
        CLI_STRING(
            0, "as", "DEVICE", &job->export_as,
            "device name in the exported entries: part of its name, or family:NAME, one of its families (default: its full name)"),
        CLI_COMMON_OPTIONS(&job->common),
        CLI_END,
    };
    const struct cli_usage usage = {
        .synopsis = "[KERNEL...] [options]",
        .about =
            "Searches for the fastest launch shapes of kernels on a device, by trial. The result of each candidate is checked before its speed counts. The shapes found are stored and used from then on. A KERNEL is a name of --list, its first words (nbody, nbody.direct) or a pattern ('*.double').",
        .examples =
            "  stdcl tune --list\n"
            "  stdcl tune nbody.direct.single --size 8192 --minutes 2\n"
            "  stdcl tune --device H200 --minutes 20 --export hopper.json --as family:hopper\n",
        .options = options,
        .combinations = tune_combinations,
        .conditions = (struct cli_condition[]){{"tune", "tune", .holds = true}, {NULL}},
        .operands = &job->names,
        .operand = "KERNEL",
    };
    if (!cli_parse(&usage, argc, argv, status))
        return false;
    return (*status = cli_combinations_check(&usage)) == CLI_DONE;
}

static int cmd_tune_run(int argc, char **argv)
{
    struct tune_job job = {.minutes = 10, .seed = 1};
    int status;
    if (parse_tune_options(&job, argc, argv, &status))
        status = tune_kernels(&job);
    for (size_t i = 0; i < job.searches; i++)
        free(job.search[i].why);
    free(job.search);
    free(job.info);
    json_decref(job.exported);
    if (job.context)
        clcontext_destroy(job.context);
    cli_strings_free(&job.names);
    cli_strings_free(&job.size_texts);
    cli_common_free(&job.common);
    return status;
}

const struct cli_command cmd_tune = {"tune", "search for the best kernel shapes on this machine",
                                     cmd_tune_run, CLI_RANKS_INDEPENDENT};
