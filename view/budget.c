/* budget.c - how often pictures may come, so that showing them takes at most a given share of the
 * run's time.
 *
 * The cost of a picture is the run's time from view_due's yes until the picture was handed over,
 * plus the part of the server's thread's time that slows the run down.
 * SPDX-License-Identifier: MIT
 */
#include "view/window.h"

#include <math.h>

/* If kernels use all processors, each second of the server's thread delays them by one, because
 * they end with their last part. With few busy processors the share is 2 busy, at least 1/cores.
 * busy: fraction of the processors in use; half or more counts as all. cores: number of
 * processors. */
double budget_server_share(double busy, double cores)
{
    return fmin(1, fmax(2 * busy, 1 / cores));
}

static double budget_median(const double c[3])
{
    return fmax(fmin(c[0], c[1]), fmin(fmax(c[0], c[1]), c[2]));
}

double budget_wait(struct budget *b, double cost, double share)
{
    enum { MOST_OWED = 16 };
    b->cost[0] = b->cost[1];
    b->cost[1] = b->cost[2];
    b->cost[2] = cost;
    const double usual = budget_median(b->cost);
    b->owed = fmin(MOST_OWED * usual, fmax(0, b->owed + cost - usual));
    const double paid = fmin(b->owed, usual);
    b->owed -= paid;
    return (usual + paid) / share;
}
