/* cmd_nbody.c - `stdcl nbody`: gravity between bodies that are read from a file or made. */
/* SPDX-License-Identifier: MIT */
#include "nbody_job.h"

#include <errno.h>
#include <math.h>

static const char *const plane_names[] = {"xy", "xz", "yz", NULL};
static const char *const colour_names[] = {"inferno", "magma", "viridis", "grey", NULL};

enum { LEAST_PIXELS = 16, MOST_PIXELS = 16384 };

/* One side: the first `length` characters. */
static bool read_side(const char *text, size_t length, unsigned *side)
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

static bool read_pixels(const char *text, void *to, char *why, size_t size)
{
    struct picture_options *picture = to;
    const size_t length = strcspn(text, "xX");
    const char *second = text[length] ? text + length + 1 : text;
    if (read_side(text, length, &picture->width) &&
        read_side(second, strlen(second), &picture->height))
        return true;
    snprintf(why, size,
             "'%s' is not a size; give pixels as WIDTHxHEIGHT or one number, each from %d to %d",
             text, LEAST_PIXELS, MOST_PIXELS);
    return false;
}

/* Options of a run, which --compare does not make: it sums forces, with every kernel. */
static int check_compare(const struct cli_option *options)
{
    static const char *const of_runs[] = {
        "dt",         "stepping",   "eta",       "steps",        "until",         "integrator",
        "burst",      "kernel",     "output",    "frames",       "csv",           "forces",
        "plane",      "colours",    "colour-by", "groups",       "size",          "extent",
        "heaviest",   "method",     "accuracy",  "check-forces", "check-step",    "direct-energies",
        "snapshots",  "checkpoint", "resume",    "diag",         "stop-distance", "stop-energy",
        "time-limit", "structure",  "plot",      "elements",     "azimuth",       "elevation",
        "zoom",       "follow",     "caption",   "trails",       "fps",           "external",
        "view",       "record",     "collide",   "radius"};
    for (size_t i = 0; i < sizeof of_runs / sizeof *of_runs; i++)
        if (cli_given(options, of_runs[i]))
            return cli_wrong(
                "--compare and %s cannot be combined: every kernel sums the forces on the "
                "bodies as they are, and no steps are made",
                cli_typed(options, of_runs[i]));
    return CLI_DONE;
}

/* Options that an ensemble has no use for: all but these. */
static int check_ensemble(const struct cli_option *options, int integrator)
{
    static const char *const its[] = {"input",    "seed",          "gravity",    "dt",
                                      "steps",    "until",         "output",     "elements",
                                      "ensemble", "spread",        "integrator", "checkpoint",
                                      "every",    "every-minutes", "resume",     "resume-anyway",
                                      "device",   "json",          "profile",    "trace",
                                      "explain",  "quiet"};
    for (const struct cli_option *o = options; o->type != CLI_TYPE_END; o++) {
        bool known = !o->name || !o->given;
        for (size_t i = 0; i < sizeof its / sizeof *its && !known; i++)
            known = strcmp(o->name, its[i]) == 0;
        if (!known)
            return cli_wrong("--ensemble and --%s cannot be combined", o->name);
    }
    if (cli_given(options, "integrator") && integrator != NBODY_IAS15)
        return cli_wrong(
            "--ensemble and --integrator %s cannot be combined: an ensemble has symplectic steps of its own, or ias15",
            nbody_integrator_names()[integrator]);
    return CLI_DONE;
}

/* Options of pictures need a picture. */
static int check_pictures(const struct nbody_job *job, const struct cli_option *options)
{
    static const char *const of_pictures[] = {
        "plane",   "colours",   "colour-by", "groups", "size",    "extent", "heaviest",
        "azimuth", "elevation", "zoom",      "follow", "caption", "trails", "fps"};
    for (size_t i = 0; i < sizeof of_pictures / sizeof *of_pictures; i++)
        if (cli_given(options, of_pictures[i]) && !cli_outputs_will_draw(&job->outputs))
            return cli_wrong(
                "--%s is for pictures: add -o FILE.png, or a film: FILE.mp4, FILE.webm or FILE.gif",
                of_pictures[i]);
    if (cli_given(options, "groups") && job->colour_by != PICTURE_BY_GROUP)
        return cli_wrong("--groups needs --colour-by group");
    if (job->colour_by == PICTURE_BY_GROUP && cli_given(options, "collide"))
        return cli_wrong(
            "--colour-by group and --collide cannot be combined: bodies that merge are of no group");
    return CLI_DONE;
}

/* The names of the integrators that the tree goes with. */
static const char *without_derivatives(char *text, size_t size)
{
    const struct nbody_integrator_info *row;
    for (int i = 0; (row = nbody_integrator_describe((enum nbody_integrator)i)); i++)
        if (row->derivatives == 0 && i != NBODY_IAS15)
            snprintf(text + strlen(text), size - strlen(text), "%s%s", *text ? ", " : "",
                     row->name);
    return text;
}

/* Options that contradict each other. */
static int check(struct nbody_job *job, const struct cli_option *options)
{
    static const char *const of_models[] = {"n", "seed"};
    for (size_t i = 0; job->input && !job->ensemble && i < 2; i++)
        if (cli_given(options, of_models[i]))
            return cli_wrong("%s and %s cannot be combined: the file says which bodies there are",
                             cli_typed(options, "input"), cli_typed(options, of_models[i]));
    if (job->input && cli_given(options, "ic"))
        return cli_wrong("%s and --ic cannot be combined: give a file or a model",
                         cli_typed(options, "input"));
    if (job->dt == 0)
        return cli_wrong("--dt is 0; give another number");
    if (cli_given(options, "steps") && cli_given(options, "until"))
        return cli_wrong(
            "--steps and --until cannot be combined: give the number of steps or the time");
    const size_t fixed = job->input ? 0 : nbody_model_bodies((enum nbody_model)job->model);
    if (fixed && job->n && job->n != fixed)
        return cli_wrong("%s: '%zu' does not fit --ic %s, which has %zu bodies",
                         cli_typed(options, "n"), job->n, nbody_model_names[job->model], fixed);
    const struct nbody_integrator_info *integrator =
        nbody_integrator_describe((enum nbody_integrator)job->integrator);
    if (job->stepping == NBODY_BLOCK && job->method == NBODY_DIRECT &&
        job->integrator == NBODY_LEAPFROG)
        return cli_wrong(
            "--stepping block and --integrator leapfrog need --method tree; sums over all pairs have block steps with hermite4");
    if (job->stepping == NBODY_BLOCK && job->integrator != NBODY_HERMITE4 &&
        job->integrator != NBODY_LEAPFROG)
        return cli_wrong(
            "--stepping block and --integrator %s cannot be combined: hermite4 has block steps, and leapfrog with --method "
            "tree",
            integrator->name);
    if (job->stepping != NBODY_FIXED && job->integrator == NBODY_IAS15)
        return cli_wrong(
            "--stepping %s and --integrator ias15 cannot be combined: it chooses its steps by itself",
            nbody_stepping_names[job->stepping]);
    if (job->stepping == NBODY_ADAPTIVE && job->method == NBODY_TREE)
        return cli_wrong(
            "--stepping adaptive and --method tree cannot be combined: steps are fixed there, or with --stepping block each body's own");
    if (cli_given(options, "eta") && job->stepping == NBODY_FIXED)
        return cli_wrong(
            "--eta is for steps that bodies choose: add --stepping adaptive or --stepping block");
    if (job->kernel != NBODY_TUNED && integrator->derivatives > 0)
        return cli_wrong(
            "--kernel %s has no derivatives of forces, which --integrator %s needs; take "
            "another integrator or --kernel tuned",
            nbody_kernel_names[job->kernel], integrator->name);
    if (job->integrator == NBODY_IAS15 && job->method == NBODY_TREE)
        return cli_wrong(
            "--method tree and --integrator ias15 cannot be combined: it computes on the host");
    if (job->precision == NBODY_MIXED && integrator->derivatives > 0)
        return cli_wrong(
            "--precision mixed has no derivatives of forces, which --integrator %s needs; take --precision double",
            integrator->name);
    if (job->precision == NBODY_MIXED &&
        (job->method == NBODY_TREE || job->kernel != NBODY_TUNED || job->compare))
        return cli_wrong(
            "--precision mixed is for sums over all pairs by the tuned kernel; leave out %s",
            job->compare                ? "--compare"
            : job->method == NBODY_TREE ? "--method tree"
                                        : "--kernel");
    if (job->method == NBODY_TREE && integrator->derivatives > 0)
        return cli_wrong(
            "--method tree has no derivatives of forces, which --integrator %s needs; integrators without them are %s",
            integrator->name, without_derivatives((char[128]){""}, 128));
    if (job->method == NBODY_TREE && job->kernel != NBODY_TUNED)
        return cli_wrong(
            "--method tree and --kernel %s cannot be combined: the tree has kernels of its own",
            nbody_kernel_names[job->kernel]);
    if (cli_given(options, "accuracy") && job->method == NBODY_DIRECT)
        return cli_wrong("--accuracy is for the tree: add --method tree or --method auto");
    if (cli_given(options, "fractions") && !job->structure && !job->plots.n)
        return cli_wrong(
            "--fractions is for --structure FILE and --plot lagrange.svg: add one of them");
    if ((cli_given(options, "every") || cli_given(options, "every-minutes")) && !job->checkpoint)
        return cli_wrong(
            "%s is for checkpoints: add --checkpoint FILE",
            cli_typed(options, cli_given(options, "every") ? "every" : "every-minutes"));
    if (job->resume_anyway && !job->resume && !job->resumed)
        return cli_wrong("--resume-anyway needs --resume FILE");
    if (job->check_step && job->resume)
        return cli_wrong(
            "--check-step and --resume cannot be combined: the start of the run is not there any more");
    if (cli_given(options, "radius") && !job->collide)
        return cli_wrong("--radius is for --collide merge and --collide stop: add one of them");
    if (job->collide && job->check_step)
        return cli_wrong(
            "--check-step and --collide cannot be combined: the two runs may not keep the same bodies");
    if (job->ensemble)
        return check_ensemble(options, job->integrator);
    if (cli_given(options, "spread"))
        return cli_wrong("--spread is for --ensemble N: add it");
    const int fields = nbody_fields_read(job);
    if (fields != CLI_DONE)
        return fields;
    return job->compare ? check_compare(options) : check_pictures(job, options);
}

/* What --help says of them: all names, then a line on each. */
static void describe_integrators(char *text, size_t size)
{
    const struct nbody_integrator_info *info;
    size_t used = (size_t)snprintf(text, size, "how a step is computed: {}");
    for (int i = 0; used < size && (info = nbody_integrator_describe((enum nbody_integrator)i));
         i++)
        used += (size_t)snprintf(text + used, size - used, "; %s is %s", info->name, info->about);
}

static bool parse(struct nbody_job *job, int argc, char **argv, int *status)
{
    int plane = PICTURE_XY, colours = PICTURE_INFERNO;
    char outputs[512];
    snprintf(
        outputs, sizeof outputs,
        "by its suffix: a picture of surface density (.png), a film (.mp4 .webm .gif), the energies over time "
        "(.csv), or the bodies at the end as %s; may be repeated",
        particles_formats());
    char inputs[640];
    snprintf(
        inputs, sizeof inputs,
        "a file of bodies, whose time, softening, step, G and integrator hold where no option says "
        "otherwise: %s; '-' reads standard input",
        particles_readable());
    char integrators[2048];
    describe_integrators(integrators, sizeof integrators);
    struct cli_option options[] = {
        CLI_GROUP("Bodies"),
        CLI_STRING('i', "input", "FILE", &job->input, inputs),
        CLI_CHOICE(0, "ic", "MODEL", &job->model, nbody_model_names,
                   "the model that makes the bodies"),
        CLI_SIZE(
            'n', "bodies", "N", &job->n, 1, SIZE_MAX,
            "number of bodies to make (default 16384, with --compare 4096 on CPUs and 32768 on others; figure8 and "
            "pythagorean have 3)"),
        CLI_U64(
            0, "seed", "SEED", &job->seed, 0, UINT64_MAX,
            "of the random numbers that make the bodies; the same seed makes the same bodies on every machine"),
        CLI_GROUP("Physics"),
        CLI_REAL('G', "gravity", "G", &job->G, CLI_ABOVE_0, DBL_MAX,
                 "the gravitational constant, in the units of the bodies"),
        CLI_STRINGS(
            0, "external", "FIELD", &job->external,
            "a fixed field of force about the origin, besides the bodies' own: plummer:M,a, point:M, or logarithmic:v,r, in "
            "which far bodies circle with speed v; or none, where a file has some; may be repeated"),
        CLI_REAL(0, "eps", "LENGTH", &job->eps, 0, DBL_MAX,
                 "softening length (default: the model's, or for a file its own or an estimate)"),
        CLI_REAL(
            0, "dt", "TIME", &job->dt, -DBL_MAX, DBL_MAX,
            "time step, such as 0.01, 1/256 or 2^-7; a negative one runs back (default: the model's, or for a file its own "
            "or an estimate)"),
        CLI_CHOICE(
            0, "stepping", "NAME", &job->stepping, nbody_stepping_names,
            "how long steps are: {}; fixed is --dt for all, and the default but for up to 16 bodies without --dt, --steps, --integrator, --precision or --method, whose steps are adaptive; adaptive is, for all bodies, what the one that needs the shortest "
            "allows, and block what each body needs; --dt is the longest, and --integrator hermite4 the default then, or for block with --method tree leapfrog"),
        CLI_REAL(
            0, "eta", "ETA", &job->eta, CLI_ABOVE_0, 1,
            "of --stepping adaptive and block: a fourth of it halves steps (default 0.01 for hermite4, 0.025 with --method tree, 0.001 for others)"),
        CLI_SIZE(0, "steps", "N", &job->steps, 0, (uint64_t)1 << 53,
                 "number of steps (default: the model's --until; 100 for a file)"),
        CLI_REAL(
            0, "until", "TIME", &job->until, -DBL_MAX, DBL_MAX,
            "the time at which the run ends, instead of --steps; the last step is shortened to meet it"),
        CLI_REAL(0, "stop-distance", "LENGTH", &job->stop_distance, CLI_ABOVE_0, DBL_MAX,
                 "end the run when a body is farther than that from the centre of mass"),
        CLI_CHOICE(
            0, "collide", "WHAT", &job->collide, nbody_collide_names,
            "what becomes of bodies that touch in a step: {}; merge makes one of two, with the mass, momentum and volume of "
            "both, stop ends the run"),
        CLI_REAL(0, "radius", "LENGTH", &job->radius, 0, DBL_MAX,
                 "of all bodies, for --collide (default: those of the file)"),
        CLI_REAL(0, "stop-energy", "ERROR", &job->stop_energy, CLI_ABOVE_0, DBL_MAX,
                 "end it, with status 1, when the energy's relative error is larger"),
        CLI_REAL(0, "time-limit", "SECONDS", &job->time_limit, CLI_ABOVE_0, DBL_MAX,
                 "end it after so much time on the clock"),
        CLI_CHOICE(0, "integrator", "NAME", &job->integrator, nbody_integrator_names(),
                   integrators),
        CLI_CHOICE(
            0, "precision", "NAME", &job->precision, nbody_precision_names,
            "of the numbers on the device: {}; mixed has positions, velocities and their differences in double, and pulls in single "
            "(default mixed; double for integrators hermite4, hermite6 and ias15, with --stepping, and for models of three bodies; single, the fastest, "
            "with the tree and the simple kernels, for softenings of single bodies, and where a device has no doubles)"),
        CLI_CHOICE(
            0, "kernel", "NAME", &job->kernel, nbody_kernel_names,
            "which kernel sums the forces; all but tuned are for comparison, and run on one device"),
        CLI_CHOICE(
            0, "method", "NAME", &job->method, nbody_method_names,
            "how forces are found: {}; direct sums over all pairs, tree takes far bodies together, auto is "
            "whichever is faster for so many bodies (--explain tells)"),
        CLI_REAL(
            0, "accuracy", "ERROR", &job->accuracy, CLI_ABOVE_0, 0.5,
            "of the tree: 99 of 100 bodies are to have accelerations with a smaller error, relative to their own "
            "(default 0.001)"),
        CLI_SIZE(
            0, "burst", "N", &job->burst, 1, SIZE_MAX,
            "number of steps after which the host looks for Ctrl-C and shows progress (default: about ten times a second)"),
        CLI_GROUP("Output"),
        CLI_STRINGS('o', "output", "FILE", &job->outputs.names, outputs),
        CLI_REAL(
            0, "snapshots", "TIME", &job->snapshots, CLI_ABOVE_0, DBL_MAX,
            "write the bodies every so much time, at the nearest step, and at the end: -o snap-%04d.hdf5, or of any format of "
            "bodies, with an index, snap-series.csv"),
        CLI_SIZE(
            0, "frames", "N", &job->outputs.frames, 1, 1000000,
            "number of pictures from start to end, FILE-0001.png and so on (default 100 for a film)"),
        CLI_STRING(
            0, "csv", "FILE", &job->csv,
            "time, energies, momentum, angular momentum and virial ratio, as -o FILE.csv does"),
        CLI_REAL(0, "diag", "TIME", &job->diag, CLI_ABOVE_0, DBL_MAX,
                 "time between rows of that table, to the nearest step (default: about 100 rows)"),
        CLI_STRING(
            0, "structure", "FILE", &job->structure,
            "what a cluster is like at the times of that table, as .csv or .json: energies, density centre, core, Lagrange "
            "radii, relaxation time, dispersions and anisotropy by shell, escapers, binaries (with their orbits in .json)"),
        CLI_PARSED(0, "fractions", "LIST", &job->fractions, nbody_read_fractions,
                   "of the mass, whose radii that tells (default 0.01,0.05,0.1,0.3,0.5,0.7,0.9)"),
        CLI_STRINGS(
            0, "plot", "FILE", &job->plots,
            "a figure over time, by gnuplot: energy.svg, or lagrange.svg of these radii; .png likewise; may be repeated"),
        CLI_STRING(0, "elements", "FILE", &job->elements,
                   "a table of every body's orbit about the heaviest at the end: for planets"),
        CLI_SIZE(
            0, "check-forces", "N", &job->check, 1, SIZE_MAX,
            "check the accelerations of N bodies at the end against sums over all pairs in double precision"),
        CLI_FLAG(
            0, "direct-energies", &job->direct_energies,
            "with the tree: potential energies are sums over all pairs, for up to 2^20 bodies"),
        CLI_FLAG(
            0, "check-step", &job->check_step,
            "make the same run at half the step, too, and tell how far bodies end from where they did: energy does not see "
            "light bodies"),
        CLI_STRING(
            0, "forces", "FILE", &job->forces,
            "a table with mass, force, acceleration and potential of every body at the end of the run, or at its start "
            "with --steps 0"),
        CLI_CHOICE(0, "plane", "NAME", &plane, plane_names, "the plane that a picture shows"),
        CLI_CHOICE(0, "colours", "NAME", &colours, colour_names, "of a picture"),
        CLI_CHOICE(
            0, "colour-by", "WHAT", &job->colour_by, nbody_colour_by_names,
            "what colours tell: {}; the mean speed or the group of the bodies there, while their density makes them bright or "
            "dark. Groups are the two galaxies of a collision, or the gas, dark matter and stars of a file"),
        CLI_PARSED(0, "groups", "N,N,...", &job->groups, nbody_read_groups,
                   "the numbers of bodies of these groups, in the order of the bodies"),
        CLI_PARSED(0, "size", "WxH", &job->picture, read_pixels,
                   "pixels of a picture (default 1024x1024)"),
        CLI_REAL(
            0, "extent", "LENGTH", &job->picture.extent, CLI_ABOVE_0, DBL_MAX,
            "length that the shorter side of a picture shows (default: so that nearly all bodies are seen)"),
        CLI_REAL(
            0, "heaviest", "MASS", &job->heaviest, 0, DBL_MAX,
            "mass of the heaviest bodies that a picture shows (default: all are shown, but of the models galaxy and collision "
            "the stars alone, not their dark halos, whose bodies are heavier)"),
        CLI_REAL(0, "azimuth", "DEGREES", &job->camera.azimuth, -DBL_MAX, DBL_MAX,
                 "turn the camera about the normal of that plane"),
        CLI_REAL(0, "elevation", "DEGREES", &job->camera.elevation, -90, 90,
                 "of the camera over that plane"),
        CLI_REAL(0, "zoom", "FACTOR", &job->camera.zoom, CLI_ABOVE_0, DBL_MAX,
                 "show so much less than would be seen"),
        CLI_CHOICE(
            0, "follow", "WHAT", &job->camera.follow, nbody_follow_names,
            "what stays in the middle: {}, the centre of mass, that of density, or the heaviest body"),
        CLI_FLAG(
            0, "caption", &job->picture.caption,
            "write the time into pictures, a bar of a known length, and what the colours stand for"),
        CLI_SIZE(0, "trails", "N", &job->trails, 0, 1000,
                 "draw the last N of 1000 points of the paths of up to 64 bodies"),
        CLI_SIZE(0, "fps", "N", &job->outputs.fps, 1, 1000,
                 "frames a second of a film (default 25)"),
        CLI_GROUP("Going on later"),
        CLI_STRING(
            0, "checkpoint", "FILE", &job->checkpoint,
            "write now and then, and at the end, all that the run needs to go on with the same bits; in the background, and "
            "under another name until it is whole"),
        CLI_REAL(0, "every", "TIME", &job->checkpoint_time, CLI_ABOVE_0, DBL_MAX,
                 "time of the bodies between checkpoints, to the nearest step"),
        CLI_REAL(0, "every-minutes", "MINUTES", &job->checkpoint_minutes, CLI_ABOVE_0, DBL_MAX,
                 "minutes between checkpoints (default 10, without --every)"),
        CLI_STRING(
            0, "resume", "FILE", &job->resume,
            "go on with the run of a checkpoint, with its options; what else is given comes on top, such as a later --until"),
        CLI_FLAG(0, "resume-anyway", &job->resume_anyway,
                 "also on another device, driver or version, which may give other bits"),
        CLI_WINDOW_OPTIONS(&job->window),
        CLI_GROUP("Instead of a simulation"),
        CLI_STRING(
            0, "ensemble", "N|FILE", &job->ensemble,
            "move many planetary systems at once, each by itself: N copies of that of -i, a star and its planets, with small "
            "changes; or those of the files that FILE lists, a line each. By symplectic steps or --integrator ias15, with --dt (default: a 20th of the shortest period; "
            "for ias15, which chooses steps within it, all of it), --steps or --until, -o FILE of all bodies, and --elements"),
        CLI_REAL(
            0, "spread", "X", &job->spread, 0, 1,
            "of these copies: planets' coordinates and velocities are changed by up to so large a part of themselves"),
        CLI_FLAG(
            0, "compare", &job->compare,
            "sum the forces once with every kernel, check them against plain C in double precision, and "
            "print the speed of each; status 1 when one is wrong"),
        CLI_COMMON_OPTIONS(&job->common),
        CLI_END,
    };
    const struct cli_usage usage = {
        .synopsis = "[options]",
        .about =
            "Moves bodies under their mutual gravity, and reports the speed and the error of the energy. "
            "Forces are summed over all pairs of bodies, or found by a tree.",
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
    *status = check(job, options);
    if (*status == CLI_DONE)
        *status = cli_window_check(&job->window, options);
    return *status == CLI_DONE;
}

static int compare(struct nbody_job *job)
{
    int status = cli_devices_open(&job->common.device, &job->context);
    if (status == CLI_DONE)
        status = cli_profile_start(&job->common, job->context);
    cli_interrupt_catch();
    if (status == CLI_DONE)
        status = nbody_job_compare(job);
    const int reported = cli_profile_report(&job->common, job->context);
    return status == CLI_DONE ? reported : status;
}

static int ensemble(struct nbody_job *job)
{
    int status = cli_devices_open(&job->common.device, &job->context);
    if (status == CLI_DONE)
        status = cli_profile_start(&job->common, job->context);
    cli_interrupt_catch();
    if (status == CLI_DONE)
        status = nbody_job_ensemble(job);
    const int reported = cli_profile_report(&job->common, job->context);
    return status == CLI_DONE ? reported : status;
}

/* What ranks cannot do together yet. */
static int check_ranks(const struct nbody_job *job)
{
    if (world_size(cli_world) == 1)
        return CLI_DONE;
    if (job->ensemble || job->compare)
        return cli_wrong("--ensemble and --compare are for one rank");
    const int status = job->input ? cli_ranks_same_file(job->input) : CLI_DONE;
    return status == CLI_DONE && job->resume ? cli_ranks_same_file(job->resume) : status;
}

/* A run that was interrupted checks none. */
static int check_forces(struct nbody_job *job)
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

/* What can be wrong is checked before anything is computed, the cheapest first. */
static int simulate(struct nbody_job *job)
{
    int status = job->resumed ? nbody_resume_options(job) : CLI_DONE;
    if (status == CLI_DONE)
        status = nbody_output_plan(job);
    if (status == CLI_DONE)
        status = nbody_checkpoint_plan(job);
    if (status == CLI_DONE)
        status = nbody_job_bodies(job);
    if (status == CLI_DONE)
        status = nbody_job_energies_check(job);
    if (status == CLI_DONE)
        status = nbody_collide_plan(job);
    if (status == CLI_DONE)
        status = cli_devices_open(&job->common.device, &job->context);
    if (status == CLI_DONE && job->resumed)
        status = nbody_resume_devices(job);
    if (status == CLI_DONE)
        status = nbody_job_plan(job);
    if (status == CLI_DONE)
        status = nbody_steps_begin(job);
    if (status == CLI_DONE)
        status = cli_profile_start(&job->common, job->context);
    for (unsigned dev = 0; status == CLI_DONE && dev < clgetndev(job->context); dev++)
        if (nbody_device_bodies(job->engine, dev) > 0)
            cli_explain(&job->common, job->context, dev, nbody_explain(job->engine, dev),
                        nbody_shape(job->engine, dev));
    if (status == CLI_DONE && job->common.explain && cli_ranks_first())
        fprintf(stderr, "%s\n", nbody_explain_method(job->engine));
    cli_interrupt_catch(); /* from here on there is something to save */
    if (status == CLI_DONE)
        status = nbody_output_open(job);
    if (status == CLI_DONE)
        status = nbody_view_open(job);
    if (status == CLI_DONE)
        status = nbody_job_run(job);
    if (status == CLI_DONE)
        status = nbody_view_end(job);
    clprofile_begin(job->context, "output at the end");
    if (status == CLI_DONE)
        status = nbody_output_finish(job);
    clprofile_end(job->context);
    if (status == CLI_DONE)
        status = check_forces(job);
    if (status == CLI_DONE)
        status = nbody_steps_check(job);
    if (status == CLI_DONE)
        status = nbody_job_report(job);
    if (status == CLI_DONE)
        status = cli_profile_report(&job->common, job->context);
    if (status == CLI_DONE && job->interrupted)
        status = cli_interrupt_status(CLI_DONE);
    return status;
}

static struct nbody_job fresh(int argc, char **argv)
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

/* With --resume: the options of the checkpoint's run, then those of this command line. */
static bool reparse(struct nbody_job *job, int argc, char **argv, int *status)
{
    struct nbody_job whole = fresh(argc, argv);
    whole.resume = job->resume;
    whole.resume_anyway = job->resume_anyway;
    cli_outputs_free(&job->outputs);
    cli_common_free(&job->common);
    cli_strings_free(&job->plots);
    cli_strings_free(&job->external);
    *job = whole;
    *status = nbody_resume_open(job, argc, argv);
    return *status == CLI_DONE && parse(job, job->argc, job->argv, status);
}

static int run(int argc, char **argv)
{
    struct nbody_job job = fresh(argc, argv);
    int status;
    if (parse(&job, argc, argv, &status) && (!job.resume || reparse(&job, argc, argv, &status)) &&
        (status = check_ranks(&job)) == CLI_DONE)
        status = job.compare ? compare(&job) : job.ensemble ? ensemble(&job) : simulate(&job);
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
const struct cli_command cmd_nbody = {"nbody", "simulate gravity between bodies", run,
                                      CLI_RANKS_TOGETHER};
