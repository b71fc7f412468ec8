/* sweep.c - many rules on the same soups, by one program.
 *
 * Rules of the B/S family run on the device (sweep_device.c), others on the host (sweep_host.c).
 * SPDX-License-Identifier: MIT
 */
#include "life/sweep.h"

#include "core/handle.h"
#include "life/cells.h"
#include "life/family.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SWEEP_SOUPS = 4, SWEEP_MOST_SOUPS = 1 << 16, SWEEP_GENERATIONS = 1000 };

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

/* ---- Rules. ---------------------------------------------------------------------------------- */

/* Rules of the two kinds. */
struct sweep_kinds {
    size_t *device, *host; /* their numbers */
    uint32_t *code;        /* of the device's: birth | survival << 9 */
    size_t devices, hosts;
};

static int sweep_sort_rule(struct sweep_kinds *k, const char *text, size_t number)
{
    struct life_rule counts;
    struct life_family family;
    if (no_handle(text, "life_sweep"))
        return -1;
    if (life_rule_parse(text, &counts) == 0) {
        k->code[k->devices] = counts.birth | (uint32_t)counts.survival << 9;
        k->device[k->devices++] = number;
        return 0;
    }
    if (life_family_parse(text, &family) < 0)
        return -1;
    if (family.row->form != LIFE_FORM_TABLE)
        return clerror_set(
            EINVAL,
            "life_sweep: rule %zu, '%.100s', is %s; a sweep has rules of the nearest "
            "neighbours and Generations",
            number, text, family.row->kind);
    k->host[k->hosts++] = number;
    return 0;
}

static int sweep_run(struct sweep *s, struct sweep_kinds *k, size_t n)
{
    const double density = s->options->density > 0 ? s->options->density : 0.5;
    const uint64_t p = (uint64_t)llround(density * 4294967296.0);
    k->device = malloc(n * sizeof *k->device);
    k->host = malloc(n * sizeof *k->host);
    k->code = malloc(n * sizeof *k->code);
    s->rows = malloc(s->soups * SWEEP_SIDE * sizeof *s->rows);
    if (!k->device || !k->host || !k->code || !s->rows)
        return clerror_set(ENOMEM, "life_sweep: out of memory for %zu rules", n);
    for (size_t i = 0; i < n; i++)
        if (sweep_sort_rule(k, s->rule[i], i) < 0)
            return -1;
    for (unsigned i = 0; i < s->soups; i++)
        for (size_t y = 0; y < SWEEP_SIDE; y++)
            s->rows[i * SWEEP_SIDE + y] = life_random_word(p, i, y, s->options->seed);
    if (k->devices && sweep_device(s, k->devices, k->device, k->code) < 0)
        return -1;
    return k->hosts ? sweep_host(s, k->hosts, k->host) : 0;
}

/* Clear the results of incomplete rules. */
static void sweep_drop_incomplete(struct sweep *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (s->result[i].soups < s->soups)
            s->result[i] = (struct life_sweep_result){.soups = 0};
}

int life_sweep(const struct life_sweep_options *options, const char *const *rule, size_t n,
               struct life_sweep_result *result)
{
    static const struct life_sweep_options defaults = {.ctx = NULL};
    struct sweep s = {.options = options ? options : &defaults, .rule = rule, .result = result};
    struct sweep_kinds kinds = {.devices = 0};
    if (sweep_check(s.options) < 0 ||
        (n && (no_handle(rule, __func__) || no_handle(result, __func__))))
        return -1;
    if (!n)
        return 0;
    s.soups = s.options->soups ? s.options->soups : SWEEP_SOUPS;
    s.generations = s.options->generations ? s.options->generations : SWEEP_GENERATIONS;
    s.universes = n * s.soups;
    memset(result, 0, n * sizeof *result);
    const int status = sweep_run(&s, &kinds, n);
    sweep_drop_incomplete(&s, n);
    free(kinds.device);
    free(kinds.host);
    free(kinds.code);
    free(s.rows);
    return status;
}

const char *life_sweep_class(const struct life_sweep_result *result)
{
    return result->extinct == result->soups   ? "extinct"
           : result->settled != result->soups ? "active"
           : result->period > 1               ? "periodic"
                                              : "still";
}
