/* sweep.c - many rules of the B/S family on the same soups, by one program (sweep.cl).
 *
 * A launch has as many rules as fit a slice of time (core/pace.h), each with all soups.
 * SPDX-License-Identifier: MIT
 */
#include "stdcl/sweep.h"

#include "core/args.h"
#include "core/embedded.h"
#include "core/handle.h"
#include "core/no_device.h"
#include "core/pace.h"
#include "life/cells.h"
#include "life/device_grid.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

EMBEDDED(sweep_file, "life/sweep.cl", life_sweep_cl);

enum {
    SWEEP_SIDE = LIFE_SWEEP_SIDE,
    SWEEP_SOUPS = 4,
    SWEEP_MOST_SOUPS = 1 << 16,
    SWEEP_GENERATIONS = 1000
};
enum { OF_POPULATION, OF_CHANGED, OF_PERIOD, OF_SOUP }; /* POPULATION ... RESULT in sweep.cl */

/* Universes of a launch, at most. */
enum { SWEEP_MOST_LAUNCHED = 1 << 20 };

struct sweep {
    CLCONTEXT *ctx;
    const struct life_sweep_options *options;
    unsigned soups;
    uint32_t generations;
    void *program;
    cl_kernel kernel;
    cl_uint *rule, *result; /* on the device, too */
    cl_ulong *soup;
    size_t room, items; /* rules of a launch; work-items of a group */
};

static void sweep_free(struct sweep *s)
{
    if (s->program)
        clclose(s->ctx, s->program);
    clfree(s->rule);
    clfree(s->result);
    clfree(s->soup);
}

static int sweep_check(const struct life_sweep_options *o)
{
    if (o->soups > SWEEP_MOST_SOUPS)
        return clerror_set(EINVAL, "life_sweep: a rule has 1 to %d soups, not %u", SWEEP_MOST_SOUPS,
                           o->soups);
    if (!(o->density >= 0 && o->density <= 1))
        return clerror_set(EINVAL, "life_sweep: the density is a fraction from 0 to 1, not %g",
                           o->density);
    for (size_t i = 0; i < sizeof o->reserved / sizeof *o->reserved; i++)
        if (o->reserved[i])
            return clerror_set(
                EINVAL, "life_sweep: reserved[%zu] of the options is not 0; clear the struct", i);
    return 0;
}

static int sweep_rules(struct sweep *s, const struct life_rule *rule, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (rule[i].birth > 0x1ff || rule[i].survival > 0x1ff)
            return clerror_set(EINVAL, "life_sweep: rule %zu has a count of more than 8 neighbours",
                               i);
        s->rule[i] = rule[i].birth | (cl_uint)rule[i].survival << 9;
    }
    return 0;
}

static void sweep_soups(struct sweep *s)
{
    const double density = s->options->density > 0 ? s->options->density : 0.5;
    const uint64_t p = (uint64_t)llround(density * 4294967296.0);
    for (unsigned i = 0; i < s->soups; i++)
        for (size_t y = 0; y < SWEEP_SIDE; y++)
            s->soup[i * SWEEP_SIDE + y] = life_random_word(p, i, y, s->options->seed);
}

/* Rows of a work-item: a vector on a CPU. */
static size_t lanes_of(CLCONTEXT *ctx)
{
    struct cldev_info *info = calloc(clgetndev(ctx), sizeof *info);
    const bool cpu =
        info && clgetdevinfo(ctx, info) == 0 && info[DEVICE].dev_type & CL_DEVICE_TYPE_CPU;
    free(info);
    return cpu ? 8 : 1;
}

static int sweep_open(struct sweep *s, const struct life_rule *rule, size_t n)
{
    const size_t most = SWEEP_MOST_LAUNCHED / s->soups;
    s->ctx = s->options->ctx ? s->options->ctx : stdgpu ? stdgpu : stdcpu;
    if (!s->ctx)
        return clerror_set(ENODEV, "life_sweep: there is no OpenCL device; " NO_DEVICE_REMEDY);
    s->items = SWEEP_SIDE / lanes_of(s->ctx);
    s->program =
        embedded_open(s->ctx, s->items == SWEEP_SIDE ? "" : "-D LANES=8", &sweep_file, 0, NULL);
    s->kernel = s->program ? clsym(s->ctx, s->program, "life_sweep", 0) : NULL;
    if (!s->kernel)
        return -1;
    s->room = n < most ? n : most;
    s->rule = clmalloc(s->ctx, n * sizeof *s->rule, CL_MEM_ZEROCOPY);
    s->soup = clmalloc(s->ctx, s->soups * SWEEP_SIDE * sizeof *s->soup, CL_MEM_ZEROCOPY);
    s->result = clmalloc(s->ctx, s->room * s->soups * OF_SOUP * sizeof *s->result, CL_MEM_ZEROCOPY);
    if (!s->rule || !s->soup || !s->result || sweep_rules(s, rule, n) < 0)
        return -1;
    sweep_soups(s);
    return life_event_status(clmsync(s->ctx, DEVICE, s->rule, CL_MEM_DEVICE)) < 0
               ? -1
               : life_event_status(clmsync(s->ctx, DEVICE, s->soup, CL_MEM_DEVICE));
}

/* Add up the soups of a rule. */
static void sweep_add(const struct sweep *s, const cl_uint *of, struct life_sweep_result *result)
{
    const double cells = (double)s->soups * SWEEP_SIDE * SWEEP_SIDE;
    double population = 0, changed = 0;
    *result = (struct life_sweep_result){.period = 0};
    for (unsigned i = 0; i < s->soups; i++, of += OF_SOUP) {
        population += of[OF_POPULATION];
        changed += of[OF_CHANGED];
        result->extinct += of[OF_POPULATION] == 0 && of[OF_PERIOD] == 1;
        result->settled += of[OF_PERIOD] > 0;
        result->period = of[OF_PERIOD] > result->period ? of[OF_PERIOD] : result->period;
    }
    result->density = population / cells;
    result->activity = changed / cells;
}

/* Run `rules` rules from number `first` on. */
static int sweep_launch(struct sweep *s, size_t first, size_t rules,
                        struct life_sweep_result *result)
{
    const size_t groups = rules * s->soups;
    clndrange_t ndr = clndrange_init1d(0, groups * s->items, s->items);
    if (life_event_status(clforka(s->ctx, DEVICE, s->kernel, &ndr, UNWAITED, s->rule, s->soup,
                                  (cl_ulong)first, (cl_uint)s->soups, (cl_uint)s->generations,
                                  (cl_uint)LIFE_SWEEP_PERIOD, s->result)) < 0 ||
        life_event_status(clmsyncn(s->ctx, DEVICE, s->result, groups * OF_SOUP * sizeof *s->result,
                                   CL_MEM_HOST)) < 0)
        return -1;
    for (size_t i = 0; i < rules; i++)
        sweep_add(s, s->result + i * s->soups * OF_SOUP, &result[first + i]);
    return 0;
}

static int sweep_run(struct sweep *s, size_t n, struct life_sweep_result *result)
{
    const struct life_sweep_options *o = s->options;
    const double work = (double)s->soups * ((double)s->generations + LIFE_SWEEP_PERIOD);
    struct pace pace = pace_of(1e5); /* generations of a soup per second */
    for (size_t first = 0, rules; first < n; first += rules) {
        const double fit = pace_slice(&pace) / work;
        const size_t most = n - first < s->room ? n - first : s->room;
        rules = fit < 1 ? 1 : fit < (double)most ? (size_t)fit : most;
        pace_started(&pace, (double)rules * work);
        if (sweep_launch(s, first, rules, result) < 0)
            return -1;
        pace_waited(&pace);
        if (o->progress && o->progress(o->arg, (double)(first + rules) / (double)n) != 0)
            return clerror_set(ECANCELED, "life_sweep: cancelled after %zu of %zu rules",
                               first + rules, n);
    }
    return 0;
}

int life_sweep(const struct life_sweep_options *options, const struct life_rule *rule, size_t n,
               struct life_sweep_result *result)
{
    static const struct life_sweep_options defaults = {.ctx = NULL};
    struct sweep s = {.options = options ? options : &defaults};
    if (sweep_check(s.options) < 0 ||
        (n && (no_handle(rule, __func__) || no_handle(result, __func__))))
        return -1;
    s.soups = s.options->soups ? s.options->soups : SWEEP_SOUPS;
    s.generations = s.options->generations ? s.options->generations : SWEEP_GENERATIONS;
    int status = 0;
    if (n)
        status = sweep_open(&s, rule, n) < 0 ? -1 : sweep_run(&s, n, result);
    sweep_free(&s);
    return status;
}

const char *life_sweep_class(const struct life_sweep_result *result, unsigned soups)
{
    return result->extinct == soups   ? "extinct"
           : result->settled != soups ? "active"
           : result->period > 1       ? "periodic"
                                      : "still";
}
