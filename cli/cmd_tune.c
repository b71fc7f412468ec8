/* cmd_tune.c - `stdcl tune`: searches the best launch shapes of kernels on this machine's devices.
 *
 * Engines declare their kernels (NAME_tune_kernels); the search itself is the layer's. Here it is
 * decided what is searched for how long, and what is found goes to the user's store at once, so
 * that Ctrl-C loses nothing.
 * SPDX-License-Identifier: MIT
 */
#include "tune_job.h"

#include <fnmatch.h>
#include <jansson.h>
#include <math.h>
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

/* A name is that of a kernel, or the words before a dot of several, or a pattern with * and ?. */
static bool is_named(const char *kernel, const char *name)
{
    const size_t length = strlen(name);
    return fnmatch(name, kernel, 0) == 0 ||
           (strncmp(kernel, name, length) == 0 && kernel[length] == '.');
}

static bool is_wanted(const struct tune_job *job, const char *kernel)
{
    for (size_t i = 0; i < job->names.n; i++)
        if (is_named(kernel, job->names.item[i]))
            return true;
    return job->names.n == 0;
}

/* A name that was meant may be the whole one, or its beginning up to a dot. */
static void offer(struct cli_guess *guess, char *offered, size_t size, const char *kernel)
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

/* Every name must be that of some kernel. */
static int check_names(const struct tune_job *job)
{
    for (size_t i = 0; i < job->names.n; i++) {
        struct cli_guess guess = {.word = job->names.item[i]};
        char list[1024] = "", offered[128] = "";
        bool found = false;
        for (size_t e = 0, n; e < ENGINES; e++) {
            const struct cltune_kernel *kernel = engines[e](&n);
            for (size_t k = 0; k < n; k++) {
                const size_t used = strlen(list);
                found = found || is_named(kernel[k].name, job->names.item[i]);
                offer(&guess, offered, sizeof offered, kernel[k].name);
                snprintf(list + used, sizeof list - used, "%s%s", used ? ", " : "", kernel[k].name);
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
    int status = CLI_DONE;
    for (size_t i = 0; job->size_texts.n == 0 && i < kernel->nsizes && status == CLI_DONE; i++)
        status = add_search(job, kernel, dev, kernel->sizes[i]);
    for (size_t i = 0; i < job->size_texts.n && status == CLI_DONE; i++) {
        uint64_t size;
        if (cli_read_natural(job->size_texts.item[i], &size) != 0 || size == 0 || size > INT64_MAX)
            return cli_wrong("--size: '%s' is not a size; give a whole number from 1 on",
                             job->size_texts.item[i]);
        status = add_search(job, kernel, dev, (size_t)size);
    }
    return status;
}

/* Two devices of one model and driver share their rows. */
static bool is_repeated(const struct tune_job *job, unsigned dev)
{
    for (unsigned d = 0; d < dev; d++)
        if (!strcmp(job->info[d].dev_name, job->info[dev].dev_name) &&
            !strcmp(job->info[d].dev_drv_version, job->info[dev].dev_drv_version))
            return true;
    return false;
}

static int plan(struct tune_job *job)
{
    int status = CLI_DONE;
    for (unsigned dev = 0; dev < clgetndev(job->context) && status == CLI_DONE; dev++)
        for (size_t e = 0, n; e < ENGINES && !is_repeated(job, dev); e++) {
            const struct cltune_kernel *kernel = engines[e](&n);
            for (size_t k = 0; k < n && status == CLI_DONE; k++)
                if (is_wanted(job, kernel[k].name))
                    status = add_sizes(job, &kernel[k], dev);
        }
    return status;
}

/* Rows of --as are for the devices that were tuned. */
static int check_as(const struct tune_job *job)
{
    for (unsigned dev = 0; job->export_as && dev < clgetndev(job->context); dev++)
        if (cltune_fits(job->context, dev, job->export_as) != 0)
            return cli_wrong("--as: %s", cli_reason());
    return CLI_DONE;
}

/* Makes the folders of the user's file and checks that it can be written, before minutes of
 * searching. */
static int check_store(const struct tune_job *job)
{
    const char *file = cltune_file();
    if (job->dry_run || job->list)
        return CLI_DONE;
    if (!file)
        return cli_failed(
            "the shapes found cannot be kept: set XDG_CACHE_HOME or HOME, or use --dry-run");
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

struct watch {
    const struct tune_job *job;
    struct tune_search *search;
    struct cli_progress *progress;
};

static int told(void *arg, const struct cltune_progress *p)
{
    const struct watch *w = arg;
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

/* Keeps what was found. That it cannot be kept does not end the searching: it may still be
 * exported. */
static int keep(struct tune_job *job, const struct tune_search *s)
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

static int search_one(struct tune_job *job, struct tune_search *s, double budget)
{
    struct cli_progress progress;
    struct watch watch = {job, s, &progress};
    const double start = seconds_now();
    int status = CLI_DONE;
    cli_explain(&job->common, job->context, s->dev, s->before.source, s->before.shape);
    cli_progress_start(&progress, "shapes", 0, job->common.quiet);
    const int failed =
        cltune_search(s->kernel, job->context, s->dev, s->size, budget, (unsigned long)job->seed,
                      told, &watch, &s->after, &s->rate_after);
    cli_progress_end(&progress);
    s->seconds = seconds_now() - start;
    s->outcome = failed ? TUNE_IMPOSSIBLE : TUNE_FOUND;
    if (failed)
        s->why = strdup(cli_reason());
    else
        status = keep(job, s);
    tune_report_result(job, s);
    return status;
}

/* The time that is left is shared equally by the searches that are left. */
static int search_all(struct tune_job *job)
{
    const double start = seconds_now(), budget = 60 * job->minutes;
    int status = CLI_DONE;
    bool any = false;
    cli_interrupt_catch_patiently();
    for (size_t i = 0; i < job->searches && !cli_interrupted(); i++) {
        const double left = budget - (seconds_now() - start);
        const int one =
            search_one(job, &job->search[i], fmax(0, left / (double)(job->searches - i)));
        status = status == CLI_DONE ? one : status;
        any = any || job->search[i].outcome == TUNE_FOUND;
    }
    job->interrupted = cli_interrupted();
    if (!any && status == CLI_DONE && !job->interrupted)
        return cli_failed("%s", job->search[0].why);
    return status;
}

/* ---- The command. ---------------------------------------------------------------------------- */

static int work(struct tune_job *job)
{
    int status = check_names(job);
    if (status == CLI_DONE)
        status = check_store(job);
    if (status == CLI_DONE && job->export_file)
        status = tune_export_open(job);
    if (status == CLI_DONE)
        status = cli_devices_open(&job->common.device, &job->context);
    if (status != CLI_DONE)
        return status;
    job->info = cli_alloc(clgetndev(job->context), sizeof *job->info);
    if (clgetdevinfo(job->context, job->info) < 0)
        return cli_failed_call(NULL);
    if ((status = check_as(job)) != CLI_DONE || (status = plan(job)) != CLI_DONE)
        return status;
    if (job->list)
        return tune_report_list(job);
    status = search_all(job);
    if (job->export_file && tune_export_write(job) != CLI_DONE)
        status = CLI_FAILED;
    const int reported = tune_report_end(job);
    status = status == CLI_DONE ? reported : status;
    return status == CLI_DONE ? cli_interrupt_status(CLI_DONE) : status;
}

static bool parse(struct tune_job *job, int argc, char **argv, int *status)
{
    struct cli_option options[] = {
        CLI_GROUP("Search"),
        CLI_REAL(0, "minutes", "M", &job->minutes, CLI_ABOVE_0, 1e6,
                 "time for all searches together"),
        CLI_STRINGS(
            0, "size", "N", &job->size_texts,
            "problem size, such as the number of bodies; may be repeated (default: those that each "
            "kernel names)"),
        CLI_U64(0, "seed", "SEED", &job->seed, 0, UINT32_MAX,
                "of the random numbers that choose candidates"),
        CLI_FLAG(0, "list", &job->list,
                 "list the kernels and the rows that are used now, and search nothing"),
        CLI_FLAG(0, "dry-run", &job->dry_run, "search, but do not keep what is found"),
        CLI_GROUP("Output"),
        CLI_STRING(
            0, "export", "FILE", &job->export_file,
            "also write what is found to a file of rows like those that stdcl ships; rows of the file for other "
            "kernels and devices stay"),
        CLI_STRING(
            0, "as", "DEVICE", &job->export_as,
            "the device's name in the exported rows: part of its name, or family:NAME, one of its families (default: its "
            "whole name)"),
        CLI_COMMON_OPTIONS(&job->common),
        CLI_END,
    };
    const struct cli_usage usage = {
        .synopsis = "[KERNEL...] [options]",
        .about =
            "Searches for the fastest launch shapes of kernels on a device, by trial. The result of a candidate is "
            "checked before its speed counts. What is found is kept, and used from then on. A KERNEL is a name "
            "of --list, its first words (nbody, nbody.direct) or a pattern ('*.double').",
        .examples =
            "  stdcl tune --list\n"
            "  stdcl tune nbody.direct.single --size 8192 --minutes 2\n"
            "  stdcl tune --device H200 --minutes 20 --export hopper.json --as family:hopper\n",
        .options = options,
        .operands = &job->names,
        .operand = "KERNEL",
    };
    if (!cli_parse(&usage, argc, argv, status))
        return false;
    if (job->common.profile.wanted || job->common.trace)
        *status = cli_wrong(
            "--profile and --trace measure a run of one shape, such as stdcl nbody's; tune makes "
            "hundreds");
    if (job->list && job->export_file)
        *status =
            cli_wrong("--list searches nothing that --export could write; leave one of them out");
    if (job->export_as && !job->export_file)
        *status = cli_wrong("--as names the device in the file of --export: add --export FILE");
    return *status == CLI_DONE;
}

static int run(int argc, char **argv)
{
    struct tune_job job = {.minutes = 10, .seed = 1};
    int status;
    if (parse(&job, argc, argv, &status))
        status = work(&job);
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
                                     run, CLI_RANKS_APART};
