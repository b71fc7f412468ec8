/* cmd_nbody.c - `stdcl nbody`: gravity between bodies from a file or a model. */
/* SPDX-License-Identifier: MIT */
#include "command.h"
#include "common.h"
#include "device.h"
#include "interrupt.h"
#include "message.h"
#include "ranks.h"
#include "usage.h"
#include "nbody_job.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdcl.h>
#include <stdcl/world.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const plane_names[] = {"xy", "xz", "yz", NULL};
static const char *const colour_names[] = {"inferno", "magma", "viridis", "grey", NULL};

enum { LEAST_PIXELS = 16, MOST_PIXELS = 16384 };

/* Parse one side from the first `length` characters. */
static bool parse_side(const char *text, size_t length, unsigned *side)
{
    uint64_t value;
    char digits[24];
    if (length >= sizeof digits)
        return false;
    memcpy(digits, text, length);
    digits[length] = 0;
    if (cli_read_natural(digits, &value) || value < LEAST_PIXELS || value > MOST_PIXELS)
        return false;
    *side = (unsigned)value;
    return true;
}

static bool parse_pixels(const char *text, void *to, char *why, size_t size)
{
    struct picture_options *picture = to;
    const size_t length = strcspn(text, "xX");
    const char *second = text[length] ? text + length + 1 : text;
    if (parse_side(text, length, &picture->width) &&
        parse_side(second, strlen(second), &picture->height))
        return true;
    snprintf(why, size,
             "'%s' is not a size; give pixels as WIDTHxHEIGHT or one number, each from %d to %d",
             text, LEAST_PIXELS, MOST_PIXELS);
    return false;
}

/* Reject options of a run with --compare, which sums forces once with every kernel. */
static int check_compare(const struct cli_option *options)
{
    static const char *const run_options[] = {
        "dt",         "stepping",   "eta",       "steps",        "until",         "integrator",
        "batch",      "kernel",     "output",    "frames",       "csv",           "forces",
        "plane",      "colours",    "colour-by", "groups",       "size",          "extent",
        "heaviest",   "method",     "accuracy",  "check-forces", "check-step",    "direct-energies",
        "snapshots",  "checkpoint", "resume",    "diag",         "stop-distance", "stop-energy",
        "time-limit", "structure",  "plot",      "elements",     "azimuth",       "elevation",
        "zoom",       "follow",     "caption",   "trails",       "fps",           "external",
        "view",       "record",     "collide",   "radius"};
    for (size_t i = 0; i < sizeof run_options / sizeof *run_options; i++)
        if (cli_given(options, run_options[i]))
            return cli_wrong(
                "--compare and %s cannot be combined: every kernel sums the forces once, without steps",
                cli_typed(options, run_options[i]));
    return CLI_DONE;
}

/* Reject options that --ensemble does not support. */
static int check_ensemble(const struct cli_option *options, int integrator)
{
    static const char *const known_options[] = {
        "input",    "seed",          "gravity",    "dt",
        "steps",    "until",         "output",     "elements",
        "ensemble", "spread",        "integrator", "checkpoint",
        "every",    "every-minutes", "resume",     "resume-anyway",
        "device",   "json",          "profile",    "trace",
        "explain",  "quiet"};
    for (const struct cli_option *o = options; o->type != CLI_TYPE_END; o++) {
        bool known = !o->name || !o->given;
        for (size_t i = 0; i < sizeof known_options / sizeof *known_options && !known; i++)
            known = strcmp(o->name, known_options[i]) == 0;
        if (!known)
            return cli_wrong("--ensemble and --%s cannot be combined", o->name);
    }
    if (cli_given(options, "integrator") && integrator != NBODY_IAS15)
        return cli_wrong(
            "--ensemble and --integrator %s cannot be combined: ensembles support only their own symplectic integrator and ias15",
            nbody_integrator_names()[integrator]);
    return CLI_DONE;
}

/* Reject options of pictures without a picture. */
static int check_pictures(const struct nbody_job *job, const struct cli_option *options)
{
    static const char *const options_of_pictures[] = {
        "plane",   "colours",   "colour-by", "groups", "size",    "extent", "heaviest",
        "azimuth", "elevation", "zoom",      "follow", "caption", "trails", "fps"};
    for (size_t i = 0; i < sizeof options_of_pictures / sizeof *options_of_pictures; i++)
        if (cli_given(options, options_of_pictures[i]) && !cli_outputs_will_draw(&job->outputs))
            return cli_wrong(
                "--%s applies only to pictures: add -o FILE.png, FILE.mp4, FILE.webm or FILE.gif",
                options_of_pictures[i]);
    if (cli_given(options, "groups") && job->colour_by != PICTURE_BY_GROUP)
        return cli_wrong("--groups needs --colour-by group");
    if (job->colour_by == PICTURE_BY_GROUP && cli_given(options, "collide"))
        return cli_wrong(
            "--colour-by group and --collide cannot be combined: merged bodies belong to no group");
    return CLI_DONE;
}

/* Names of the integrators that the tree supports. */
static const char *without_derivatives(char *text, size_t size)
{
    const struct nbody_integrator_info *row;
    for (int i = 0; (row = nbody_integrator_describe((enum nbody_integrator)i)); i++)
        if (row->derivatives == 0 && i != NBODY_IAS15)
            snprintf(text + strlen(text), size - strlen(text), "%s%s", *text ? ", " : "",
                     row->name);
    return text;
}

/* Reject contradicting options. */
static int check_nbody_options(struct nbody_job *job, const struct cli_option *options)
{
    static const char *const model_options[] = {"n", "seed"};
    for (size_t i = 0; job->input && !job->ensemble && i < 2; i++)
        if (cli_given(options, model_options[i]))
            return cli_wrong("%s and %s cannot be combined: the file determines the bodies",
                             cli_typed(options, "input"), cli_typed(options, model_options[i]));
    if (job->input && cli_given(options, "ic"))
        return cli_wrong("%s and --ic cannot be combined: give a file or a model",
                         cli_typed(options, "input"));
    if (job->dt == 0)
        return cli_wrong("--dt is 0; give a nonzero step");
    if (cli_given(options, "steps") && cli_given(options, "until"))
        return cli_wrong(
            "--steps and --until cannot be combined: give the number of steps or the time");
    const size_t fixed = job->input ? 0 : nbody_model_bodies((enum nbody_model)job->model);
    if (fixed && job->n && job->n != fixed)
        return cli_wrong("%s: '%zu' contradicts --ic %s, which has %zu bodies",
                         cli_typed(options, "n"), job->n, nbody_model_names[job->model], fixed);
    const struct nbody_integrator_info *integrator =
        nbody_integrator_describe((enum nbody_integrator)job->integrator);
    if (job->stepping == NBODY_BLOCK && job->method == NBODY_DIRECT &&
        job->integrator == NBODY_LEAPFROG)
        return cli_wrong(
            "--stepping block and --integrator leapfrog need --method tree; direct sums have block steps only with hermite4");
    if (job->stepping == NBODY_BLOCK && job->integrator != NBODY_HERMITE4 &&
        job->integrator != NBODY_LEAPFROG)
        return cli_wrong(
            "--stepping block and --integrator %s cannot be combined: only hermite4, and leapfrog with --method tree, have block steps",
            integrator->name);
    if (job->stepping != NBODY_FIXED && job->integrator == NBODY_IAS15)
        return cli_wrong(
            "--stepping %s and --integrator ias15 cannot be combined: ias15 chooses its own steps",
            nbody_stepping_names[job->stepping]);
    if (job->stepping == NBODY_ADAPTIVE && job->method == NBODY_TREE)
        return cli_wrong(
            "--stepping adaptive and --method tree cannot be combined: use --stepping fixed or block");
    if (cli_given(options, "eta") && job->stepping == NBODY_FIXED)
        return cli_wrong("--eta applies only to --stepping adaptive and block: add one of them");
    if (job->kernel != NBODY_TUNED && integrator->derivatives > 0)
        return cli_wrong(
            "--kernel %s has no derivatives of forces, which --integrator %s needs; use a different integrator or --kernel tuned",
            nbody_kernel_names[job->kernel], integrator->name);
    if (job->integrator == NBODY_IAS15 && job->method == NBODY_TREE)
        return cli_wrong(
            "--method tree and --integrator ias15 cannot be combined: ias15 computes on the host");
    if (job->precision == NBODY_MIXED && integrator->derivatives > 0)
        return cli_wrong(
            "--precision mixed has no derivatives of forces, which --integrator %s needs; use --precision double",
            integrator->name);
    if (job->precision == NBODY_MIXED &&
        (job->method == NBODY_TREE || job->kernel != NBODY_TUNED || job->compare))
        return cli_wrong(
            "--precision mixed applies only to direct sums by the tuned kernel; omit %s",
            job->compare                ? "--compare"
            : job->method == NBODY_TREE ? "--method tree"
                                        : "--kernel");
    if (job->method == NBODY_TREE && integrator->derivatives > 0)
        return cli_wrong(
            "--method tree has no derivatives of forces, which --integrator %s needs; use one of %s",
            integrator->name, without_derivatives((char[128]){""}, 128));
    if (job->method == NBODY_TREE && job->kernel != NBODY_TUNED)
        return cli_wrong(
            "--method tree and --kernel %s cannot be combined: the tree has its own kernels",
            nbody_kernel_names[job->kernel]);
    if (cli_given(options, "accuracy") && job->method == NBODY_DIRECT)
        return cli_wrong("--accuracy applies only to the tree: add --method tree or --method auto");
    if (cli_given(options, "fractions") && !job->structure && !job->plots.n)
        return cli_wrong(
            "--fractions applies only to --structure FILE and --plot lagrange.svg: add one of them");
    if ((cli_given(options, "every") || cli_given(options, "every-minutes")) && !job->checkpoint)
        return cli_wrong(
            "%s needs --checkpoint FILE",
            cli_typed(options, cli_given(options, "every") ? "every" : "every-minutes"));
    if (job->resume_anyway && !job->resume && !job->resumed)
        return cli_wrong("--resume-anyway needs --resume FILE");
    if (job->check_step && job->resume)
        return cli_wrong(
            "--check-step and --resume cannot be combined: a checkpoint does not hold the start of the run");
    if (cli_given(options, "radius") && !job->collide)
        return cli_wrong("--radius needs --collide merge or --collide stop");
    if (job->collide && job->check_step)
        return cli_wrong(
            "--check-step and --collide cannot be combined: the two runs may merge different bodies");
    if (job->ensemble)
        return check_ensemble(options, job->integrator);
    if (cli_given(options, "spread"))
        return cli_wrong("--spread needs --ensemble N");
    const int fields = nbody_fields_read(job);
    if (fields != CLI_DONE)
        return fields;
    return job->compare ? check_compare(options) : check_pictures(job, options);
}

/* Write the help of --integrator: all names, then a clause on each. */
static void describe_integrators(char *text, size_t size)
{
    const struct nbody_integrator_info *info;
    size_t used = (size_t)snprintf(text, size, "integrator: {}");
    for (int i = 0; used < size && (info = nbody_integrator_describe((enum nbody_integrator)i));
         i++)
        used += (size_t)snprintf(text + used, size - used, "; %s is %s", info->name, info->about);
}

static bool parse_nbody_options(struct nbody_job *job, int argc, char **argv, int *status)
{
    int plane = PICTURE_XY, colours = PICTURE_INFERNO;
    char outputs[512];
    snprintf(
        outputs, sizeof outputs,
        "output file, repeatable; the suffix selects its kind: surface density (.png), film (.mp4 .webm .gif), energies over time (.csv), or final bodies as %s",
        particles_formats());
    char inputs[640];
    snprintf(
        inputs, sizeof inputs,
        "file of bodies: %s; '-' reads standard input. Options override its time, softening, step, G and integrator",
        particles_readable());
    char integrators[2048];
    describe_integrators(integrators, sizeof integrators);
    struct cli_option options[] = {
        CLI_GROUP("Bodies"),
        CLI_STRING('i', "input", "FILE", &job->input, inputs),
        CLI_CHOICE(0, "ic", "MODEL", &job->model, nbody_model_names, "initial model"),
        CLI_SIZE(
            'n', "bodies", "N", &job->n, 1, SIZE_MAX,
            "number of bodies of the model (default 16384; with --compare 4096 on CPUs, else 32768; figure8 and pythagorean have 3)"),
        CLI_U64(
            0, "seed", "SEED", &job->seed, 0, UINT64_MAX,
            "seed of the model's random numbers; equal seeds give equal bodies on every machine"),
        CLI_GROUP("Physics"),
        CLI_REAL('G', "gravity", "G", &job->G, CLI_ABOVE_0, DBL_MAX,
                 "gravitational constant, in the units of the bodies"),
        CLI_STRINGS(
            0, "external", "FIELD", &job->external,
            "external force field about the origin, repeatable: plummer:M,a, point:M, logarithmic:v,r (circular speed v far out), or none to drop a file's fields"),
        CLI_REAL(0, "eps", "LENGTH", &job->eps, 0, DBL_MAX,
                 "softening length (default: the model's or file's, else an estimate)"),
        CLI_REAL(
            0, "dt", "TIME", &job->dt, -DBL_MAX, DBL_MAX,
            "time step, such as 0.01, 1/256 or 2^-7; negative: backward in time (default: the model's or file's, else an estimate)"),
        CLI_CHOICE(
            0, "stepping", "NAME", &job->stepping, nbody_stepping_names,
            "time-step scheme: {}. fixed: --dt for all bodies; adaptive: one step for all, set by the most demanding body; block: individual steps. --dt is the maximum step of adaptive and block; their default integrator is hermite4 (block with --method tree: leapfrog). Up to 16 bodies without --dt, --steps, --integrator, --precision and --method default to adaptive"),
        CLI_REAL(
            0, "eta", "ETA", &job->eta, CLI_ABOVE_0, 1,
            "accuracy parameter of --stepping adaptive and block; step length scales as sqrt(ETA) (default 0.01 for hermite4, 0.025 with --method tree, else 0.001)"),
        CLI_SIZE(0, "steps", "N", &job->steps, 0, (uint64_t)1 << 53,
                 "number of steps (default: the model's --until; 100 for a file)"),
        CLI_REAL(
            0, "until", "TIME", &job->until, -DBL_MAX, DBL_MAX,
            "end time of the run, instead of --steps; the last step is shortened to end there"),
        CLI_REAL(0, "stop-distance", "LENGTH", &job->stop_distance, CLI_ABOVE_0, DBL_MAX,
                 "stop when a body is farther than LENGTH from the centre of mass"),
        CLI_CHOICE(
            0, "collide", "WHAT", &job->collide, nbody_collide_names,
            "what becomes of bodies that touch during a step: {}; merge conserves mass, momentum and volume; stop ends the run"),
        CLI_REAL(0, "radius", "LENGTH", &job->radius, 0, DBL_MAX,
                 "radius of every body, for --collide (default: the file's radii)"),
        CLI_REAL(0, "stop-energy", "ERROR", &job->stop_energy, CLI_ABOVE_0, DBL_MAX,
                 "stop with status 1 when the relative energy error exceeds ERROR"),
        CLI_REAL(0, "time-limit", "SECONDS", &job->time_limit, CLI_ABOVE_0, DBL_MAX,
                 "stop after SECONDS of wall-clock time"),
        CLI_CHOICE(0, "integrator", "NAME", &job->integrator, nbody_integrator_names(),
                   integrators),
        CLI_CHOICE(
            0, "precision", "NAME", &job->precision, nbody_precision_names,
            "precision on the device: {}; mixed: positions, velocities and their differences in double, forces in single (default mixed; double for hermite4, hermite6, ias15, --stepping and models of three bodies; single, the fastest, for the tree, the simple kernels, per-body softenings and devices without double)"),
        CLI_CHOICE(0, "kernel", "NAME", &job->kernel, nbody_kernel_names,
                   "force kernel; all but tuned are baselines for comparison, on one device"),
        CLI_CHOICE(
            0, "method", "NAME", &job->method, nbody_method_names,
            "force method: {}; direct sums over all pairs, tree is a Barnes-Hut tree, auto is the faster of the two for N bodies (--explain prints the choice)"),
        CLI_REAL(
            0, "accuracy", "ERROR", &job->accuracy, CLI_ABOVE_0, 0.5,
            "error limit of the tree: 99 % of the bodies have a smaller relative error of the acceleration (default 0.001)"),
        CLI_SIZE(
            0, "batch", "N", &job->batch, 1, SIZE_MAX,
            "steps per batch, after which the host checks for Ctrl-C and shows progress (default: about ten batches a second)"),
        CLI_GROUP("Output"),
        CLI_STRINGS('o', "output", "FILE", &job->outputs.names, outputs),
        CLI_REAL(
            0, "snapshots", "TIME", &job->snapshots, CLI_ABOVE_0, DBL_MAX,
            "time between numbered snapshots, to the nearest step: -o snap-%04d.hdf5 or any format of bodies, with an index snap-series.csv; one more at the end"),
        CLI_SIZE(
            0, "frames", "N", &job->outputs.frames, 1, 1000000,
            "number of pictures from start to end, FILE-0001.png and so on (default 100 for a film)"),
        CLI_STRING(
            0, "csv", "FILE", &job->csv,
            "table of time, energies, momentum, angular momentum and virial ratio, as -o FILE.csv"),
        CLI_REAL(
            0, "diag", "TIME", &job->diag, CLI_ABOVE_0, DBL_MAX,
            "time between rows of the table of energies, to the nearest step (default: about 100 rows)"),
        CLI_STRING(
            0, "structure", "FILE", &job->structure,
            "structure of a cluster over time, as .csv or .json: energies, density centre, core, Lagrangian radii, relaxation time, dispersions and anisotropy by shell, escapers, binaries (orbits in .json); rows as in --csv"),
        CLI_PARSED(
            0, "fractions", "LIST", &job->fractions, nbody_read_fractions,
            "mass fractions of the Lagrangian radii (default 0.01,0.05,0.1,0.3,0.5,0.7,0.9)"),
        CLI_STRINGS(
            0, "plot", "FILE", &job->plots,
            "figure over time, drawn by gnuplot, repeatable: energy or lagrange (the Lagrangian radii), as .svg or .png"),
        CLI_STRING(0, "elements", "FILE", &job->elements,
                   "table of the final orbits of all bodies about the heaviest, for planets"),
        CLI_SIZE(
            0, "check-forces", "N", &job->check, 1, SIZE_MAX,
            "force check at the end: the accelerations of N bodies against direct sums in double precision"),
        CLI_FLAG(0, "direct-energies", &job->direct_energies,
                 "potential energies of the tree by direct sums, for up to 2^20 bodies"),
        CLI_FLAG(
            0, "check-step", &job->check_step,
            "repeat the run at half the step and report how far the final positions differ; energy is insensitive to light bodies"),
        CLI_STRING(
            0, "forces", "FILE", &job->forces,
            "table of mass, force, acceleration and potential of every body at the end of the run (--steps 0: at its start)"),
        CLI_CHOICE(0, "plane", "NAME", &plane, plane_names, "projection plane of pictures"),
        CLI_CHOICE(0, "colours", "NAME", &colours, colour_names, "colour map of pictures"),
        CLI_CHOICE(
            0, "colour-by", "WHAT", &job->colour_by, nbody_colour_by_names,
            "quantity shown by hue: {}; with speed (the mean) and group, density sets the brightness. Groups are the two galaxies of a collision, or the gas, dark matter and stars of a file"),
        CLI_PARSED(0, "groups", "N,N,...", &job->groups, nbody_read_groups,
                   "numbers of bodies per group, in the order of the bodies"),
        CLI_PARSED(0, "size", "WxH", &job->picture, parse_pixels,
                   "size of pictures in pixels (default 1024x1024)"),
        CLI_REAL(0, "extent", "LENGTH", &job->picture.extent, CLI_ABOVE_0, DBL_MAX,
                 "length of the shorter side of pictures (default: fits nearly all bodies)"),
        CLI_REAL(
            0, "heaviest", "MASS", &job->heaviest, 0, DBL_MAX,
            "maximum mass of the bodies in pictures (default: unlimited; for the models galaxy and collision the stars alone, without the heavier bodies of the dark halos)"),
        CLI_REAL(0, "azimuth", "DEGREES", &job->camera.azimuth, -DBL_MAX, DBL_MAX,
                 "camera angle about the normal of the projection plane"),
        CLI_REAL(0, "elevation", "DEGREES", &job->camera.elevation, -90, 90,
                 "camera angle above the projection plane"),
        CLI_REAL(0, "zoom", "FACTOR", &job->camera.zoom, CLI_ABOVE_0, DBL_MAX,
                 "magnification of pictures"),
        CLI_CHOICE(
            0, "follow", "WHAT", &job->camera.follow, nbody_follow_names,
            "centre of pictures: {}; mass and density are the centres of mass and of density, heaviest is the heaviest body"),
        CLI_FLAG(0, "caption", &job->picture.caption,
                 "time, length scale and colour legend in pictures"),
        CLI_SIZE(0, "trails", "N", &job->trails, 0, 1000,
                 "points of each body's path in pictures, of 1000 per run; for up to 64 bodies"),
        CLI_SIZE(0, "fps", "N", &job->outputs.fps, 1, 1000,
                 "frames per second of films (default 25)"),
        CLI_GROUP("Checkpoints"),
        CLI_STRING(
            0, "checkpoint", "FILE", &job->checkpoint,
            "checkpoint of the run, written periodically and at the end; a resumed run gives the same bits. Written in the background under a temporary name"),
        CLI_REAL(0, "every", "TIME", &job->checkpoint_time, CLI_ABOVE_0, DBL_MAX,
                 "simulated time between checkpoints, to the nearest step"),
        CLI_REAL(0, "every-minutes", "MINUTES", &job->checkpoint_minutes, CLI_ABOVE_0, DBL_MAX,
                 "wall-clock minutes between checkpoints (default 10, without --every)"),
        CLI_STRING(
            0, "resume", "FILE", &job->resume,
            "checkpoint to resume, with its options; additional options, such as a later --until, override them"),
        CLI_FLAG(0, "resume-anyway", &job->resume_anyway,
                 "resume even on a different device, driver or version, which may change bits"),
        CLI_WINDOW_OPTIONS(&job->window),
        CLI_GROUP("Instead of a simulation"),
        CLI_STRING(0, "ensemble", "N|FILE", &job->ensemble,
                   "many independent planetary systems at once: N copies of the system of -i, a star and its planets, slightly perturbed (--spread); or the systems in the files listed in FILE, one per line. Symplectic steps or --integrator ias15, with --dt (default: 1/20 of the shortest period; for ias15, where it is the maximum step, the whole period), --steps or --until, -o FILE of all bodies, and --elements"),
        CLI_REAL(0, "spread", "X", &job->spread, 0, 1,
                 "maximum relative perturbation of the copies' coordinates and velocities"),
        CLI_FLAG(
            0, "compare", &job->compare,
            "table of all force kernels: one force sum each, checked against plain C in double precision, and its speed; status 1 if one is wrong"),
        CLI_COMMON_OPTIONS(&job->common),
        CLI_END,
    };
    const struct cli_usage usage = {
        .synopsis = "[options]",
        .about =
            "Simulates bodies under their mutual gravity and reports the speed and the energy error. Forces come from direct sums over all pairs or from a tree.",
        .examples =
            "  stdcl nbody --ic collision -o collision.png\n"
            "  stdcl nbody --ic plummer -n 2^16 --until 10 -o plummer.csv -o plummer.tab\n"
            "  stdcl nbody -i galaxy.tab --eps 0.05 --dt 0.002 --steps 1000 -o galaxy.mp4\n"
            "  stdcl nbody -i galaxy.tab --eps 0.05 --steps 0 --forces forces.csv\n"
            "  stdcl nbody --method tree --accuracy 0.001 -n 2^20 --check-forces 1000\n"
            "  stdcl nbody --until 100 --checkpoint run.ckpt -o end.tab\n"
            "  stdcl nbody --resume run.ckpt\n"
            "  stdcl nbody -i planets.tab --ensemble 1000 --until 10000 --elements end.csv\n"
            "  stdcl nbody --compare -n 2^15\n",
        .options = options,
        .reads = "input resume",
        .writes = "output csv structure plot elements forces checkpoint trace record",
        .stored = nbody_resume_stored(job),
    };
    if (!cli_parse(&usage, argc, argv, status))
        return false;
    job->picture.plane = (enum picture_plane)plane;
    job->picture.colours = (enum picture_colours)colours;
    job->given = (struct nbody_given){.G = cli_given(options, "gravity"),
                                      .integrator = cli_given(options, "integrator"),
                                      .method = cli_given(options, "method"),
                                      .stepping = cli_given(options, "stepping")};
    if (job->stepping != NBODY_FIXED && !job->given.integrator) {
        job->integrator = job->stepping == NBODY_BLOCK && job->method != NBODY_DIRECT
                              ? NBODY_LEAPFROG
                              : NBODY_HERMITE4;
        job->given.integrator = true;
    }
    *status = check_nbody_options(job, options);
    if (*status != CLI_DONE)
        return false;
    *status = cli_window_check(&job->window, options);
    return *status == CLI_DONE;
}

static int open_nbody_devices(struct nbody_job *job)
{
    const int status = cli_devices_open(&job->common.device, &job->context);
    if (status != CLI_DONE)
        return status;
    return cli_profile_start(&job->common, job->context);
}

/* Run --compare or --ensemble. */
static int run_comparison_or_ensemble(struct nbody_job *job)
{
    int status = open_nbody_devices(job);
    cli_interrupt_catch();
    if (status == CLI_DONE)
        status = job->compare ? nbody_job_compare(job) : nbody_job_ensemble(job);
    const int reported = cli_profile_report(&job->common, job->context);
    return status == CLI_DONE ? reported : status;
}

/* Reject options that several ranks do not support. */
static int check_rank_options(const struct nbody_job *job)
{
    if (world_size(cli_world) == 1)
        return CLI_DONE;
    if (job->ensemble || job->compare)
        return cli_wrong("--ensemble and --compare run on one rank only");
    const int status = job->input ? cli_ranks_same_file(job->input) : CLI_DONE;
    if (status != CLI_DONE)
        return status;
    return job->resume ? cli_ranks_same_file(job->resume) : CLI_DONE;
}

/* Run the force check, unless the run was interrupted. */
static int run_force_check(struct nbody_job *job)
{
    job->check = job->interrupted ? 0 : job->check;
    if (!job->check || nbody_check_forces(job->engine, job->check, job->seed, &job->errors) == 0)
        return CLI_DONE;
    if (clerrno != ECANCELED)
        return cli_failed_call(NULL);
    job->interrupted = true;
    job->check = 0;
    return CLI_DONE;
}

/* Checks come before computing, the cheapest first. */
static int prepare_simulation(struct nbody_job *job)
{
    int status;
    if (job->resumed && (status = nbody_resume_options(job)) != CLI_DONE)
        return status;
    if ((status = nbody_output_plan(job)) != CLI_DONE)
        return status;
    if ((status = nbody_checkpoint_plan(job)) != CLI_DONE)
        return status;
    if ((status = nbody_job_bodies(job)) != CLI_DONE)
        return status;
    if ((status = nbody_job_energies_check(job)) != CLI_DONE)
        return status;
    if ((status = nbody_collide_plan(job)) != CLI_DONE)
        return status;
    if ((status = cli_devices_open(&job->common.device, &job->context)) != CLI_DONE)
        return status;
    if (job->resumed && (status = nbody_resume_devices(job)) != CLI_DONE)
        return status;
    if ((status = nbody_job_plan(job)) != CLI_DONE)
        return status;
    if ((status = nbody_steps_begin(job)) != CLI_DONE)
        return status;
    return cli_profile_start(&job->common, job->context);
}

static void explain_simulation(struct nbody_job *job)
{
    for (unsigned dev = 0; dev < clgetndev(job->context); dev++)
        if (nbody_device_bodies(job->engine, dev) > 0)
            cli_explain(&job->common, job->context, dev, nbody_explain(job->engine, dev),
                        nbody_shape(job->engine, dev));
    if (job->common.explain && cli_ranks_first())
        fprintf(stderr, "%s\n", nbody_explain_method(job->engine));
}

static int run_with_outputs(struct nbody_job *job)
{
    int status = nbody_output_open(job);
    if (status != CLI_DONE)
        return status;
    if ((status = nbody_view_open(job)) != CLI_DONE)
        return status;
    if ((status = nbody_job_run(job)) != CLI_DONE)
        return status;
    return nbody_view_end(job);
}

static int report_simulation(struct nbody_job *job)
{
    int status = run_force_check(job);
    if (status != CLI_DONE)
        return status;
    if ((status = nbody_steps_check(job)) != CLI_DONE)
        return status;
    if ((status = nbody_job_report(job)) != CLI_DONE)
        return status;
    if ((status = cli_profile_report(&job->common, job->context)) != CLI_DONE)
        return status;
    return job->interrupted ? cli_interrupt_status(CLI_DONE) : CLI_DONE;
}

static int run_simulation(struct nbody_job *job)
{
    int status = prepare_simulation(job);
    if (status == CLI_DONE)
        explain_simulation(job);
    cli_interrupt_catch(); /* from here on there are results to save */
    if (status == CLI_DONE)
        status = run_with_outputs(job);
    clprofile_begin(job->context, "final output");
    if (status == CLI_DONE)
        status = nbody_output_finish(job);
    clprofile_end(job->context);
    return status == CLI_DONE ? report_simulation(job) : status;
}

static struct nbody_job default_job(int argc, char **argv)
{
    return (struct nbody_job){
        .model = NBODY_PLUMMER,
        .steps = SIZE_MAX,
        .G = 1,
        .eps = NAN,
        .dt = NAN,
        .until = NAN,
        .heaviest = NAN,
        .integrator = NBODY_LEAPFROG,
        .precision = NOT_GIVEN,
        .camera = {.elevation = 90, .zoom = 1},
        .trails = 1000,
        .spread = 1e-6,
        .radius = NAN,
        .argc = argc,
        .argv = argv,
    };
}

/* With --resume: parse the options of the checkpoint's run, then those of this command line. */
static bool reparse(struct nbody_job *job, int argc, char **argv, int *status)
{
    struct nbody_job whole = default_job(argc, argv);
    whole.resume = job->resume;
    whole.resume_anyway = job->resume_anyway;
    cli_outputs_free(&job->outputs);
    cli_common_free(&job->common);
    cli_strings_free(&job->plots);
    cli_strings_free(&job->external);
    *job = whole;
    *status = nbody_resume_open(job, argc, argv);
    return *status == CLI_DONE && parse_nbody_options(job, job->argc, job->argv, status);
}

static int cmd_nbody_run(int argc, char **argv)
{
    struct nbody_job job = default_job(argc, argv);
    int status;
    if (parse_nbody_options(&job, argc, argv, &status) &&
        (!job.resume || reparse(&job, argc, argv, &status)) &&
        (status = check_rank_options(&job)) == CLI_DONE)
        status =
            job.compare || job.ensemble ? run_comparison_or_ensemble(&job) : run_simulation(&job);
    const int closed = cli_window_close(&job.window);
    free(job.shown);
    nbody_view_free(&job);
    status = status == CLI_DONE ? closed : status;
    nbody_output_discard(&job);
    nbody_series_free(&job);
    nbody_checkpoint_free(&job);
    nbody_history_free(&job);
    nbody_steps_free(&job);
    free(job.events.event);
    cli_strings_free(&job.external);
    cli_ranks_fail(status);
    nbody_free(job.engine);
    if (job.context)
        clcontext_destroy(job.context);
    nbody_resume_free(&job);
    particles_free(&job.bodies);
    cli_outputs_free(&job.outputs);
    cli_common_free(&job.common);
    return status;
}
const struct cli_command cmd_nbody = {"nbody", "simulate gravity between bodies", cmd_nbody_run,
                                      CLI_RANKS_COLLECTIVE};
