/* shares.c - whether ranks are unlike fast: what is said of it, and when it is looked at.
 * SPDX-License-Identifier: MIT
 */
#include "balance.h"
#include "alloc.h"
#include "progress.h"
#include "ranks.h"

#include <math.h>
#include <stdbool.h>
#include <stdcl/world.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

static const double FIRST_SECONDS = 5, LEAST_GAIN = 0.03, COST_SECONDS = 2;

static double total_wait_time(void)
{
    double seconds = 0;
    for (int r = 0; r < world_size(cli_world); r++)
        seconds += world_wait_time(cli_world, r);
    return seconds;
}

void cli_balance_begin(struct cli_balance *s, double seconds)
{
    s->seconds = seconds;
    s->waited = total_wait_time();
    if (!(s->next > 0))
        s->next = FIRST_SECONDS;
}

/* Fraction of the time that a division by speed would save; now all ranks take as long as the
 * slowest. */
static double balance_gain(const struct cli_work *each, int ranks)
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

static void explain_balance(const struct cli_work *each, int ranks, double gain, const char *what)
{
    int least = 0, most = 0;
    for (int r = 1; r < ranks; r++) {
        least = each[r].work / each[r].busy < each[least].work / each[least].busy ? r : least;
        most = each[r].work / each[r].busy > each[most].work / each[most].busy ? r : most;
    }
    cli_line_wipe();
    fprintf(
        stderr,
        "%s divided by the speed of the ranks, which saves %.1f %% of the time: rank %d on %s takes %.2f times as long for one as rank %d on %s\n",
        what, 100 * gain, least, world_host(cli_world, least),
        each[least].busy / each[least].work / (each[most].busy / each[most].work), most,
        world_host(cli_world, most));
}

double cli_balance_busy(const struct cli_balance *s, double seconds)
{
    return seconds - s->seconds - (total_wait_time() - s->waited);
}

int cli_balance_update(struct cli_balance *s, struct cli_work own, double seconds, double left,
                       const char *what, double *weight)
{
    const int ranks = world_size(cli_world);
    const bool forced =
        getenv("STDCL_TEST_REBALANCE") != NULL; /* for tests: new weights at every check */
    bool due = forced || seconds - s->seconds > s->next;
    *weight = 0;
    if (ranks == 1)
        return 0;
    if (world_broadcast(cli_world, 0, &due, sizeof due) != 0) /* rank 0's clock decides for all */
        return -1;
    if (!due)
        return 0;
    struct cli_work *each = cli_alloc((size_t)ranks, sizeof own);
    int status = world_gather(cli_world, &own, sizeof own, each);
    const double gain = status == 0 ? balance_gain(each, ranks) : 0;
    bool rebalance =
        forced || (gain > LEAST_GAIN && gain * left * (seconds - s->seconds) > COST_SECONDS);
    if (status == 0)
        status = world_broadcast(cli_world, 0, &rebalance, sizeof rebalance);
    if (status == 0 && rebalance) {
        *weight = forced ? 1 + (double)(world_rank(cli_world) + s->looks) / 2 : own.work / own.busy;
        if (gain > 0 && what && cli_ranks_first())
            explain_balance(each, ranks, gain, what);
    }
    s->looks = (s->looks + 1) % 3;
    s->next *= 2;
    cli_balance_begin(s, seconds);
    free(each);
    return status;
}
