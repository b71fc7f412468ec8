/* budget.c - how often pictures may come, so that showing them takes no more than its share of the
 * run's time.
 *
 * What counts is what a picture costs the run: the time from view_due's yes until it was handed
 * over, and so much of the server's thread's as the run feels.
 * SPDX-License-Identifier: MIT
 */
#include "view/internal.h"

#include <math.h>

/* Where kernels have all processors each second of the server's thread is one that they wait, since
 * they are done when the last of them is; where most idle it is taken from nobody. `busy` is the
 * part of them that the process keeps busy; from half on it counts as all. */
double budget_felt(double busy, double cores)
{
    return fmin(1, fmax(2 * busy, 1 / cores));
}

static double median(const double c[3])
{
    return fmax(fmin(c[0], c[1]), fmin(fmax(c[0], c[1]), c[2]));
}

double budget_wait(struct budget *b, double cost, double share)
{
    enum { MOST_OWED = 16 };
    b->cost[0] = b->cost[1];
    b->cost[1] = b->cost[2];
    b->cost[2] = cost;
    const double usual = median(b->cost);
    b->owed = fmin(MOST_OWED * usual, fmax(0, b->owed + cost - usual));
    const double paid = fmin(b->owed, usual);
    b->owed -= paid;
    return (usual + paid) / share;
}
