/* cmd_view.c - `stdcl view`: recordings, and files of all four programs, in a browser or as a
 * page. */
/* SPDX-License-Identifier: MIT */
#include "command.h"
#include "data_files.h"
#include "files.h"
#include "interrupt.h"
#include "message.h"
#include "usage.h"
#include "view_job.h"

#include "formats/life.h"
#include "formats/npy.h"

#include <stdbool.h>
#include <stdcl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- Kinds of files. ---------------------------------------------------------------------- */

typedef int opener(struct view_job *job);

/* True for a file of velocities: three columns; bodies have seven. */
static bool has_velocities(const char *file)
{
    struct npy in;
    if (!cli_has_suffix(file, ".npy") || npy_open(&in, file) < 0)
        return false;
    const bool velocities = (in.fortran ? in.rows : in.cols) == 3 || in.cols == 3;
    npy_close(&in);
    return velocities;
}

/* The path of a shipped pattern, unless a file has this name; NULL: there is none. */
static const char *shipped_pattern(const char *name)
{
    return access(name, F_OK) == 0 ? NULL : cli_data_file(name, ".rle");
}

static opener *opener_of(const char *file)
{
    static const struct {
        const char *suffix;
        opener *open;
    } of[] = {
        {".view", view_recorded_open}, {".tmp", view_recorded_open}, {".csv", view_sweep_open}};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++)
        if (cli_has_suffix(file, of[i].suffix))
            return of[i].open;
    if (life_pattern_is_named(file) || shipped_pattern(file))
        return view_life_open;
    return has_velocities(file) ? view_speeds_open : view_bodies_open;
}

/* Replace the name of a single shipped pattern by its path. */
static void find_shipped_pattern(struct view_job *job)
{
    const char *path = shipped_pattern(job->file.item[0]);
    if (path && job->file.n == 1)
        job->file.item[0] = path;
}

static int open_files(struct view_job *job)
{
    opener *const open = opener_of(job->file.item[0]);
    for (size_t i = 1; i < job->file.n; i++) {
        const bool overlay = open == view_recorded_open && i == 1;
        if ((open != view_bodies_open && !overlay) || opener_of(job->file.item[i]) != open)
            return cli_wrong(
                "cannot show '%s' and '%s' together: files of bodies form a series, and the plots of two recordings are overlaid; give other files, such as patterns, one at a time",
                job->file.item[0], job->file.item[i]);
    }
    return open(job);
}

/* ---- The command line. ----------------------------------------------------------------------- */

static const struct cli_combination view_combinations[] = {
    CLI_EXCLUDES("output", "view view-wait record", "a page needs no server"),
    CLI_WINDOW_COMBINATIONS,
    {NULL},
};

static int cmd_view_check(struct view_job *job)
{
    if (job->page && !cli_has_suffix(job->page, ".html"))
        return cli_wrong("-o: '%s' must end in .html", job->page);
    const int status = cli_window_check(&job->window, job->quiet);
    if (status != CLI_DONE)
        return status;
    return job->page ? cli_check_output(job->page) : CLI_DONE;
}

static bool cmd_view_parse(struct view_job *job, int argc, char **argv, int *status)
{
    struct cli_option options[] = {
        CLI_STRING('o', "output", "FILE.html", &job->page,
                   "self-contained page, which needs neither a server nor a network"),
        CLI_U64('n', "generations", "N", &job->generations, 1, (uint64_t)1 << 32,
                "generations of a pattern in a page or a recording (default 500)"),
        CLI_REAL(0, "speed", "N", &job->window.pace.speed, 0, 1000,
                 "frames or generations per second; 0: unlimited"),
        CLI_FLAG('q', "quiet", &job->quiet, "no report"),
        CLI_WINDOW_OPTIONS(&job->window),
        CLI_END,
    };
    const struct cli_usage usage = {
        .synopsis = "[options] FILE...",
        .about =
            "Plays a recording in a browser, with pause, single frames and a slider; two recordings with their plots overlaid; or a pattern of Life, also a shipped one by its name. Also shows files: bodies (several form a series), velocities (.npy) and the table of 'stdcl matmul --sweep' (.csv). The link is for this machine; the second line gives the command to reach it from another. Ctrl-C ends it.",
        .examples = "  stdcl nbody --ic collision -n 2^16 --method tree --record collision.view\n"
                    "  stdcl view collision.view\n"
                    "  stdcl view collision.view -o collision.html\n"
                    "  stdcl view snap-*.hdf5\n"
                    "  stdcl view small-steps.view large-steps.view\n"
                    "  stdcl view gun.rle\n"
                    "  stdcl view gun.rle -o gun.html\n",
        .options = options,
        .combinations = view_combinations,
        .operands = &job->file,
        .operands_min = 1,
        .operand = "the recording or file",
    };
    if (!cli_parse(&usage, argc, argv, status))
        return false;
    if ((*status = cli_combinations_check(&usage)) != CLI_DONE)
        return false;
    return (*status = cmd_view_check(job)) == CLI_DONE;
}

static int cmd_view_work(struct view_job *job)
{
    const bool records = job->page || (job->window.record && !job->window.wanted);
    find_shipped_pattern(job);
    const int status = open_files(job);
    if (status != CLI_DONE)
        return status;
    const bool plays = !records && opener_of(job->file.item[0]) == view_life_open;
    if (job->generations && (plays || opener_of(job->file.item[0]) != view_life_open))
        return cli_wrong("--generations needs a pattern of Life, and -o FILE.html or --record");
    if (plays)
        return view_life_play(job);
    cli_interrupt_catch();
    if (job->page)
        return view_page(job);
    return records ? job->record(job, job->window.record) : view_play(job);
}

static int cmd_view_run(int argc, char **argv)
{
    struct view_job job = {.window = {.pace = {.speed = 25}}, .record = view_record};
    int status;
    if (cmd_view_parse(&job, argc, argv, &status))
        status = cmd_view_work(&job);
    status = cli_first_failure(status, cli_window_close(&job.window));
    view_recording_close(job.recording);
    view_recording_close(job.other);
    free(job.bars.count);
    free(job.bars.expected);
    free(job.table.value);
    free(job.text[0]);
    free(job.text[1]);
    free(job.names);
    free(job.heads);
    cli_strings_free(&job.file);
    return status;
}

const struct cli_command cmd_view = {"view", "show recordings and files in a browser", cmd_view_run,
                                     CLI_RANKS_INDEPENDENT};
