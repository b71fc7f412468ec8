/* nbody_options.c - the options of `stdcl nbody`, and which of them go together. */
/* SPDX-License-Identifier: MIT */
#include "command.h"
#include "figures.h"
#include "message.h"
#include "ranks.h"
#include "usage.h"
#include "nbody_bodies.h"
#include "nbody_camera.h"
#include "nbody_fields.h"
#include "nbody_page.h"
#include "nbody_history.h"
#include "nbody_checkpoint.h"
#include "nbody_ensemble.h"
#include "nbody_options.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdcl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

static const char *const plane_names[] = {"xy", "xz", "yz", NULL};
static const char *const colour_names[] = {"inferno", "magma", "viridis", "grey", NULL};

enum { LEAST_PIXELS = 16, MOST_PIXELS = 16384 };

static bool parse_pixels(const char *text, void *to, char *why, size_t size)
{
    struct picture_options *picture = to;
    size_t side[2];
    if (!cli_read_sides(text, LEAST_PIXELS, MOST_PIXELS, side)) {
        snprintf(
            why, size,
            "'%s' is not a size; give pixels as WIDTHxHEIGHT or one number, each from %d to %d",
            text, LEAST_PIXELS, MOST_PIXELS);
        return false;
    }
    picture->width = (unsigned)side[0];
    picture->height = (unsigned)side[1];
    return true;
}

/* ---- Options that go together. --------------------------------------------------------------- */

static const struct cli_combination nbody_combinations[] = {
    CLI_EXCLUDES("ensemble", "external!none",
                 "ensembles support no forces beside gravity; run each system by itself"),
    CLI_EXCLUDES("ensemble", "event stop-event events",
                 "ensembles have only the events of --stop-distance and --collide"),
    CLI_ALLOWS_ONLY(
        "ensemble",
        "input isolated ic seed gravity dt steps until time-limit stop-distance collide radius output snapshots csv diag elements systems spread integrator coordinates corrector safe-mode megno checkpoint every every-minutes resume resume-anyway view view-wait no-browser view-guest view-rate view-budget record " CLI_COMMON_NAMES,
        NULL),
    CLI_ALLOWS_ONLY("compare",
                    "input isolated ic bodies seed gravity eps precision " CLI_COMMON_NAMES,
                    "every kernel sums the forces once, without steps"),
    CLI_EXCLUDES("ensemble compare", "ranks", "start one rank only"),
    CLI_EXCLUDES("stepping=adaptive stepping=block integrator=ias15 kernel!tuned", "ranks",
                 "several ranks support only fixed steps on devices, with the tuned kernel"),
    CLI_EXCLUDES("external!none", "ranks", "external fields need one rank"),
    CLI_EXCLUDES("ensemble", "integrator!ias15+integrator!whfast",
                 "ensembles support only their own symplectic integrator, whfast and ias15"),
    CLI_REQUIRES("spread systems", "ensemble", NULL),
    CLI_EXCLUDES("ensemble+integrator=whfast", "collide=merge",
                 "whfast resolves no close encounters; use ias15 or --collide stop"),
    CLI_EXCLUDES("ensemble", "ic!solar", "give a star and its planets: --ic solar or -i FILE"),
    CLI_EXCLUDES("input", "ic", "give a file or a model"),
    CLI_REQUIRES("isolated", "input ensemble resume", NULL),
    CLI_REQUIRES("units", "input ic=solar", "other models have units of their own, with G = 1"),
    CLI_EXCLUDES("input ic=solar", "bodies", "the file determines the bodies"),
    CLI_REQUIRES("input+seed ic=solar+seed", "ensemble", "the file determines the bodies"),
    CLI_EXCLUDES("steps", "until", "give the number of steps or the time"),
    CLI_REQUIRES("stepping=block+integrator=leapfrog", "method=tree method=auto",
                 "direct sums have block steps only with hermite4"),
    CLI_REQUIRES("stepping=block", "integrator=hermite4 integrator=leapfrog",
                 "no other integrator has block steps"),
    CLI_EXCLUDES("stepping=adaptive stepping=block", "integrator=ias15",
                 "ias15 chooses its own steps"),
    CLI_EXCLUDES("stepping=adaptive stepping=block", "integrator=whfast integrator=trace",
                 "this integrator needs steps of one length"),
    CLI_REQUIRES("coordinates corrector safe-mode", "integrator=whfast", NULL),
    CLI_REQUIRES("megno", "integrator=whfast integrator=ias15",
                 "no other integrator has variational equations"),
    CLI_EXCLUDES("megno", "precision=single", "use --precision double"),
    CLI_EXCLUDES("megno", "safe-mode external!none collide",
                 "the variational equations do not support it"),
    CLI_REQUIRES("events", "event stop-event", NULL),
    CLI_REQUIRES("event", "events", NULL),
    CLI_EXCLUDES("event stop-event", "stepping=block ranks",
                 "bodies need steps of equal times, on one rank"),
    CLI_EXCLUDES("event stop-event", "collide=merge", "mergers change the numbers of the bodies"),
    CLI_REQUIRES("hill", "integrator=trace", NULL),
    CLI_EXCLUDES("integrator=trace", "external!none", "trace has no external fields; use ias15"),
    CLI_EXCLUDES("coordinates=heliocentric", "corrector!none external!none",
                 "use Jacobi coordinates"),
    CLI_EXCLUDES("integrator=whfast integrator=trace", "precision=single kernel!tuned ranks",
                 "this integrator computes on the host, in double precision"),
    CLI_EXCLUDES("stepping=adaptive", "method=tree", "use --stepping fixed or block"),
    CLI_REQUIRES("eta", "stepping=adaptive stepping=block", NULL),
    CLI_EXCLUDES("kernel!tuned", "derivatives",
                 "the simple kernels have no derivatives of forces; use --kernel tuned"),
    CLI_EXCLUDES("kernel!tuned", "method=tree", "the tree has its own kernels"),
    CLI_EXCLUDES("precision=mixed", "derivatives",
                 "mixed precision has no derivatives of forces; use --precision double"),
    CLI_EXCLUDES("precision=mixed", "compare method=tree kernel!tuned",
                 "mixed precision needs direct sums by the tuned kernel"),
    CLI_EXCLUDES("method=tree", "integrator=ias15 integrator=whfast integrator=trace",
                 "this integrator computes on the host"),
    CLI_EXCLUDES("method=tree", "derivatives",
                 "the tree has no derivatives of forces; use an integrator such as leapfrog"),
    CLI_REQUIRES("accuracy", "method=tree method=auto", NULL),
    CLI_REQUIRES("radius", "collide=merge collide=stop", NULL),
    CLI_EXCLUDES("check-step", "resume", "a checkpoint does not hold the start of the run"),
    CLI_EXCLUDES("check-step", "stop-event", "the two runs may end at different times"),
    CLI_EXCLUDES("check-step", "collide", "the two runs may merge different bodies"),
    CLI_REQUIRES(
        "plane colours colour-by groups size extent heaviest azimuth elevation zoom orbit approach follow caption trails osculating fps frames",
        "picture", NULL),
    CLI_EXCLUDES("osculating", "trails heaviest",
                 "orbits replace paths and are about the heaviest"),
    CLI_REQUIRES("groups", "colour-by=group", NULL),
    CLI_REQUIRES("paper", "figure plot", NULL),
    CLI_EXCLUDES("figure", "ranks", "figures are drawn by one process"),
    CLI_EXCLUDES("colour-by=group", "collide", "merged bodies belong to no group"),
    CLI_REQUIRES("snapshots", "series", NULL),
    CLI_REQUIRES("diag", "table", NULL),
    CLI_REQUIRES("fractions", "structure plot", NULL),
    CLI_EXCLUDES("json", "output=- csv=- forces=- elements=- events=- checkpoint=-",
                 "both would write to standard output; give a file name"),
    CLI_REQUIRES("every every-minutes", "checkpoint", NULL),
    CLI_REQUIRES("resume-anyway", "resume", NULL),
    CLI_WINDOW_COMBINATIONS,
    {NULL},
};

/* Reject values that contradict the bodies or each other. */
static int check_values(const struct nbody_job *job, const struct cli_option *options)
{
    const size_t fixed = job->input ? 0 : nbody_model_bodies((enum nbody_model)job->model);
    if (job->dt == 0)
        return cli_wrong("--dt is 0; give a nonzero step");
    if (fixed && job->n && job->n != fixed)
        return cli_wrong("%s: '%zu' contradicts --ic %s, which has %zu bodies",
                         cli_typed(options, "n"), job->n, nbody_model_names[job->model], fixed);
    return CLI_DONE;
}

/* Check that options beside --resume give one end of the run. All options are parsed and checked
 * again after the options of the checkpoint, where a new end replaces the saved one. */
static bool check_end(const struct cli_option *options, int *status)
{
    if (!cli_given(options, "steps") || !cli_given(options, "until"))
        return true;
    *status = cli_wrong("--steps and --until cannot be combined: give the number of steps or the "
                        "time");
    return false;
}

/* Set the default of --integrator for steps that are not fixed. */
static void choose_integrator(struct nbody_job *job)
{
    if (job->stepping == NBODY_FIXED || job->given.integrator || job->resumed)
        return;
    job->integrator = job->stepping == NBODY_BLOCK && job->method != NBODY_DIRECT ? NBODY_LEAPFROG
                                                                                  : NBODY_HERMITE4;
    job->given.integrator = true;
}

static void set_conditions(const struct nbody_job *job, const struct cli_usage *usage)
{
    const struct cli_strings *names = &job->outputs.names;
    bool table = job->csv || job->elements || nbody_history_wanted(job), series = false;
    for (size_t i = 0; i < names->n; i++) {
        table |= cli_output_kind(names->item[i]) == CLI_OUTPUT_TABLE;
        series |= series_is(names->item[i]);
    }
    cli_condition_set(usage, "picture", nbody_camera_is_used(job));
    cli_condition_set(usage, "table", table);
    cli_condition_set(usage, "series", series);
    cli_condition_set(
        usage, "derivatives",
        nbody_integrator_describe((enum nbody_integrator)job->integrator)->derivatives > 0);
}

/* ---- The options. ---------------------------------------------------------------------------- */

/* Write the help of --integrator: all names, then a clause on each. */
static void describe_integrators(char *text, size_t size)
{
    const struct nbody_integrator_info *info;
    size_t used = (size_t)snprintf(text, size, "integrator: {}");
    for (int i = 0; used < size && (info = nbody_integrator_describe((enum nbody_integrator)i));
         i++)
        used += (size_t)snprintf(text + used, size - used, "; %s is %s", info->name, info->about);
}

bool nbody_options_parse(struct nbody_job *job, int argc, char **argv, int *status)
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
    /* clang-format would indent the whole table by its longest line, which changes often. */
    // clang-format off
    struct cli_option options[] = {
        CLI_GROUP("Bodies"),
        CLI_STRING('i', "input", "FILE", &job->input, inputs),
        CLI_FLAG(
            0, "isolated", &job->isolated,
            "take the bodies of -i as isolated in static space, although the file is of a cosmological run or a periodic box; a scale factor becomes time 0"),
        CLI_CHOICE(
            0, "ic", "MODEL", &job->model, nbody_ic_names,
            "initial bodies: {}; solar is the Sun, its planets, the Moon and Pluto on 1 January 2000, in au and days; list prints a line on each"),
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
            "force beside gravity, repeatable. Fields about the origin for every integrator: plummer:M,a, point:M, logarithmic:v,r (circular speed v far out). With fixed steps of leapfrog, yoshida4, ias15, whfast and taylor also NAME:KEY=NUMBER,...: nfw:M,a, miyamoto-nagai:M,a,b, logarithmic:v,r,q, point:M,eps,x,y,z,vx,vy,vz (moves), orbit:M,centre,a,e,inc,Omega,omega,l, relativity:c,body, relativity-pairs:c, oblate:J2,J4,R,body,nx,ny,nz, radiation:beta,c,body,first,last, mass-loss:tau,body (bodies by name, or by number from 1), and FILE.cl:KEY=NUMBER,... with a function in OpenCL C. none drops the forces of the file, and those given before"),
        CLI_REAL(0, "eps", "LENGTH", &job->eps, 0, DBL_MAX,
                 "softening length (default: the model's or file's, else an estimate)"),
        CLI_REAL(
            0, "dt", "TIME", &job->dt, -DBL_MAX, DBL_MAX,
            "time step, such as 0.01, 1/256 or 2^-7; negative: backward in time (default: the model's or file's, else an estimate; for ias15 1/1000 of the run, for whfast 1/20 of the shortest passage of a pericentre, for trace 1/20 of the shortest period)"),
        CLI_CHOICE(
            0, "stepping", "NAME", &job->stepping, nbody_stepping_names,
            "time-step scheme: {}. fixed: --dt for all bodies; adaptive: one step for all, set by the most demanding body; block: individual steps. --dt is the maximum step of adaptive and block; their default integrator is hermite4 (block with --method tree: leapfrog). Up to 16 bodies without --dt, --steps, --stepping, --integrator, --precision and --method default to --integrator ias15, which chooses its own steps"),
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
        CLI_STRINGS(
            0, "stop-event", "RULE", &job->stop_rules,
            "stop at the first event of RULE (see --event), repeatable: ias15 at its time, other integrators at the end of the step"),
        CLI_REAL(0, "time-limit", "SECONDS", &job->time_limit, CLI_ABOVE_0, DBL_MAX,
                 "stop after SECONDS of wall-clock time"),
        CLI_CHOICE(0, "integrator", "NAME", &job->integrator, nbody_integrator_names(),
                   integrators),
        CLI_CHOICE(
            0, "coordinates", "NAME", &job->coordinates, nbody_coordinates_names,
            "coordinates of whfast: {}; jacobi: each body from the centre of mass of the bodies before it, for planets in the order of their distances; heliocentric: from the first body, for any order, without correctors and fields"),
        CLI_CHOICE(
            0, "corrector", "ORDER", &job->corrector, nbody_corrector_names,
            "order of the symplectic corrector of whfast: {} (default 17; none with heliocentric coordinates)"),
        CLI_FLAG(
            0, "safe-mode", &job->safe_mode,
            "begin each step of whfast from rounded positions and velocities, which is slower and less accurate"),
        CLI_FLAG(
            0, "megno", &job->megno,
            "compute the largest Lyapunov exponent and MEGNO by the variational equations of whfast or ias15; the mean of MEGNO tends to 2 for regular motion and grows for chaotic motion"),
        CLI_REAL(
            0, "hill", "R", &job->hill, CLI_ABOVE_0, 1e6,
            "distance, in Hill radii, below which trace lets ias15 follow two planets (default 3)"),
        CLI_CHOICE(
            0, "precision", "NAME", &job->precision, nbody_precision_names,
            "precision on the device: {}; mixed: positions, velocities and their differences in double, forces in single (default mixed; double for hermite4, hermite6, ias15, whfast, trace, --stepping, models of three bodies and up to 128 bodies on the host; single, the fastest, for the tree, the simple kernels, per-body softenings and devices without double)"),
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
            "number of pictures from start to end, FILE-0001.png and so on (default for a film: 100, or one per step if the run has fewer)"),
        CLI_STRING(
            0, "csv", "FILE", &job->csv,
            "table of time, energies, momentum, angular momentum and virial ratio, as -o FILE.csv"),
        CLI_REAL(0, "diag", "TIME", &job->diag, CLI_ABOVE_0, DBL_MAX,
                 "time between rows of tables, to the nearest step (default: about 100 rows)"),
        CLI_STRING(
            0, "structure", "FILE", &job->structure,
            "structure of a cluster over time, as .csv or .json: energies, density centre, core, Lagrangian radii, relaxation time, dispersions and anisotropy by shell, escapers, binaries (orbits in .json); rows as in --csv"),
        CLI_PARSED(
            0, "fractions", "LIST", &job->fractions, nbody_read_fractions,
            "mass fractions of the Lagrangian radii (default 0.01,0.05,0.1,0.3,0.5,0.7,0.9)"),
        CLI_STRINGS(
            0, "plot", "FILE", &job->plots,
            "figure drawn by gnuplot, repeatable; its name selects it: over time energy (the error), energies or lagrange (the Lagrangian radii), at the end profile (density by radius) or speeds (their distribution), as .svg, .png or .pdf; profile and speeds also as tables, .csv"),
        CLI_STRINGS(
            0, "figure", "FILE", &job->figures,
            "figure of the bodies at the end with axes, colour bar and title, drawn by gnuplot, repeatable, as .svg, .png or .pdf; up to 1000 bodies are points, up to 64 with their paths"),
        CLI_CHOICE(0, "paper", "COLOUR", &job->paper, cli_paper_names, "paper of figures"),
        CLI_PARSED(
            0, "units", "LENGTH,TIME,MASS", &job->units, units_read,
            "units of the bodies, such as au,day,msun or pc,km/s,msun: G follows, and figures, captions and the report name them"),
        CLI_STRING(
            0, "elements", "FILE", &job->elements,
            "table of the orbits of all bodies about the heaviest, for planets, at the end; with --diag at the start and over time, too"),
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
        CLI_STRING(
            0, "events", "FILE", &job->event_file,
            "table of the events of --event and --stop-event: time, bodies, distance, relative position and velocity"),
        CLI_STRINGS(
            0, "event", "RULE", &job->event_rules,
            "events to find, repeatable, at their times within steps; bodies by names or numbers from 1. encounter:D[,A,B]: closest approach below the distance D of A and B, or of any pair; apsis:A[,B]: smallest and largest distance of A, or of all bodies (all), from B (default: the heaviest); transit:AXIS,A[,B]: A crosses B as seen from the axis x, y or z, where its coordinate on the next axis is that of B; escape:D[,A,B]: A is farther from B than D, or any body from the origin"),
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
        CLI_REAL(0, "orbit", "DEGREES", &job->camera.orbit, -DBL_MAX, DBL_MAX,
                 "turn of the camera's azimuth from the start of a film to its end, such as 360"),
        CLI_REAL(0, "approach", "FACTOR", &job->camera.approach, CLI_ABOVE_0, DBL_MAX,
                 "growth of the magnification from the start of a film to its end"),
        CLI_CHOICE(
            0, "follow", "WHAT", &job->camera.follow, nbody_follow_names,
            "centre of pictures: {}; mass and density are the centres of mass and of density, heaviest is the heaviest body"),
        CLI_FLAG(0, "caption", &job->picture.caption,
                 "time, length scale and what colours stand for, beside pictures"),
        CLI_SIZE(0, "trails", "N", &job->trails, 0, 1000,
                 "points of each body's path in pictures, of 1000 per run; for up to 64 bodies"),
        CLI_FLAG(0, "osculating", &job->osculating,
                 "instead of paths: the orbits at the time of the picture about the heaviest body"),
        CLI_SIZE(0, "fps", "N", &job->outputs.fps, 1, 1000,
                 "frames per second of films (default 25)"),
        CLI_GROUP("Checkpoints"),
        CLI_STRING(
            0, "checkpoint", "FILE", &job->checkpoint,
            "checkpoint of the run, written periodically and at the end; a resumed run gives the same bits. Written under a temporary name; by one rank in the background, by several ranks together"),
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
        CLI_STRING(
            0, "ensemble", "N|FILE", &job->ensemble,
            "many independent planetary systems at once: N copies of the system of -i, a star and its planets, slightly perturbed (--spread); or the systems in the files listed in FILE, one per line. Symplectic steps, --integrator whfast or ias15, with --dt (default: 1/20 of the shortest period; for ias15, where it is the maximum step, the whole period), --steps or --until. Outputs and stop conditions apply to each system"),
        CLI_PARSED(0, "systems", "LIST", &job->chosen, nbody_read_systems,
                   "systems of an ensemble in its outputs, as numbers from 1 and ranges, such as 1,5-9 (default all)"),
        CLI_REAL(0, "spread", "X", &job->spread, 0, 1,
                 "maximum relative perturbation of the copies' coordinates and velocities"),
        CLI_FLAG(
            0, "compare", &job->compare,
            "table of all force kernels: one force sum each, checked against plain C in double precision, and its speed; status 1 if one is wrong"),
        CLI_COMMON_OPTIONS(&job->common),
        CLI_END,
    };
    // clang-format on
    struct cli_condition conditions[] = {
        {"picture", .text = CLI_OUTPUTS_PICTURE " or --figure FILE"},
        {"table", .text = "a table (--csv FILE, --structure FILE or --elements FILE)"},
        {"series", .text = "a name with a number field (-o snap-%04d.hdf5)"},
        {"derivatives", "integrators with derivatives of forces", .option = "integrator"},
        {"ranks", "several ranks", .holds = world_size(cli_world) > 1},
        {NULL},
    };
    const struct cli_usage usage = {
        .synopsis = "[FILE] [options]",
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
        .combinations = nbody_combinations,
        .conditions = conditions,
        .file = "input",
        .reads = "input resume",
        .writes = "output csv structure plot figure elements events forces checkpoint trace record",
        .stored = nbody_resume_stored(job),
    };
    if (!cli_parse(&usage, argc, argv, status))
        return false;
    job->picture.plane = (enum picture_plane)plane;
    job->picture.colours = (enum picture_colours)colours;
    job->extent_given = cli_given(options, "extent") > 0;
    job->given = (struct nbody_given){.G = cli_given(options, "gravity"),
                                      .integrator = cli_given(options, "integrator"),
                                      .method = cli_given(options, "method"),
                                      .stepping = cli_given(options, "stepping"),
                                      .device = cli_given(options, "device")};
    if (job->resume && !job->resumed)
        return check_end(options, status);
    choose_integrator(job);
    set_conditions(job, &usage);
    if ((*status = cli_combinations_check(&usage)) != CLI_DONE)
        return false;
    if (!nbody_bodies_named(job, status))
        return false;
    if ((*status = check_values(job, options)) != CLI_DONE ||
        (*status = nbody_units_plan(job)) != CLI_DONE)
        return false;
    if ((*status = nbody_fields_read(job)) != CLI_DONE)
        return false;
    return (*status = cli_window_check(&job->window, job->common.quiet)) == CLI_DONE;
}
