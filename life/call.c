/* call.c - how far a call is, and whether it is to end.
 * SPDX-License-Identifier: MIT
 */
#include "life/internal.h"

#include "core/progress.h"

void life_call_begin(life *lf, double total)
{
    lf->call.total = total;
    lf->call.done = 0;
}

int life_call_tell(life *lf, double part)
{
    const double done = lf->call.done + part;
    return progress_cancels(lf->progress, lf->arg, done, lf->call.total)
               ? progress_cancelled("life")
               : 0;
}
