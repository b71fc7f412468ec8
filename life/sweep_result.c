/* sweep_result.c - results and progress of a sweep.
 * SPDX-License-Identifier: MIT
 */
#include "life/sweep.h"

#include <errno.h>

void sweep_add(struct sweep *s, size_t rule, const struct sweep_universe *u)
{
    const double cells = (double)s->soups * SWEEP_SIDE * SWEEP_SIDE;
    struct life_sweep_result *r = &s->result[rule];
    s->ended++;
    r->density += u->population;
    r->activity += u->changed;
    r->extinct += u->population == 0 && u->period == 1;
    r->settled += u->period > 0;
    r->period = u->period > r->period ? u->period : r->period;
    if (++r->soups < s->soups)
        return;
    r->density /= cells;
    r->activity /= cells;
}

int sweep_progress(struct sweep *s, double unfinished)
{
    const struct life_sweep_options *o = s->options;
    const double fraction = ((double)s->ended + unfinished) / (double)s->universes;
    if (!o->progress || o->progress(o->arg, fraction < 1 ? fraction : 1) == 0)
        return 0;
    return clerror_set(ECANCELED, "life_sweep: cancelled after %.1f %% of the soups",
                       100 * fraction);
}
