/* shares.c - whether ranks are unlike fast: what is said of it, and when it is looked at.
 * SPDX-License-Identifier: MIT
 */
#include "cli.h"

#include <math.h>
#include <stdlib.h>

static const double FIRST_SECONDS = 5, LEAST_GAIN = 0.03, COST_SECONDS = 2;

static double waited(void)
{
    double seconds = 0;
    for (int r = 0; r < world_size(cli_world); r++)
        seconds += world_wait_time(cli_world, r);
    return seconds;
}

void cli_shares_begin(struct cli_shares *s, double seconds)
{
    s->seconds = seconds;
    s->waited = waited();
    if (!(s->next > 0))
        s->next = FIRST_SECONDS;
}

/* Which part of the time a division by speed would save: all take as long as the slowest. */
static double gain_of(const struct cli_work *each, int ranks)
{
    double longest = 0, speed = 0, all = 0;
    for (int r = 0; r < ranks; r++) {
        if (!(each[r].busy > 0) || !(each[r].work > 0))
            return 0;
        longest = fmax(longest, each[r].busy);
        speed += each[r].work / each[r].busy;
        all += each[r].work;
    }
    return 1 - all / speed / longest;
}

static void explain(const struct cli_work *each, int ranks, double gain, const char *what)
{
    int least = 0, most = 0;
    for (int r = 1; r < ranks; r++) {
        least = each[r].work / each[r].busy < each[least].work / each[least].busy ? r : least;
        most = each[r].work / each[r].busy > each[most].work / each[most].busy ? r : most;
    }
    cli_line_wipe();
    fprintf(
        stderr,
        "%s are divided by how fast ranks were, which saves %.1f %%: one of rank %d on %s takes %.2f times as long as one of rank %d on %s\n",
        what, 100 * gain, least, world_host(cli_world, least),
        each[least].busy / each[least].work / (each[most].busy / each[most].work), most,
        world_host(cli_world, most));
}

double cli_shares_busy(const struct cli_shares *s, double seconds)
{
    return seconds - s->seconds - (waited() - s->waited);
}

int cli_shares_look(struct cli_shares *s, struct cli_work own, double seconds, double left,
                    const char *what, double *weight)
{
    const int ranks = world_size(cli_world);
    const bool forced = getenv("STDCL_DIVIDE_ANEW") !=
                        NULL; /* for tests: other shares each time, whatever was measured */
    bool due = forced || seconds - s->seconds > s->next;
    *weight = 0;
    if (ranks == 1)
        return 0;
    if (world_broadcast(cli_world, 0, &due, sizeof due) != 0) /* by one clock */
        return -1;
    if (!due)
        return 0;
    struct cli_work *each = cli_alloc((size_t)ranks, sizeof own);
    int status = world_gather(cli_world, &own, sizeof own, each);
    const double gain = status == 0 ? gain_of(each, ranks) : 0;
    bool anew =
        forced || (gain > LEAST_GAIN && gain * left * (seconds - s->seconds) > COST_SECONDS);
    if (status == 0)
        status = world_broadcast(cli_world, 0, &anew, sizeof anew);
    if (status == 0 && anew) {
        *weight = forced ? 1 + (double)(world_rank(cli_world) + s->looks) / 2 : own.work / own.busy;
        if (gain > 0 && what && cli_ranks_first())
            explain(each, ranks, gain, what);
    }
    s->looks = (s->looks + 1) % 3;
    s->next *= 2;
    cli_shares_begin(s, seconds);
    free(each);
    return status;
}
