/* call.c - how far a call is, and whether it is to end.
 * SPDX-License-Identifier: MIT
 */
#include "life/internal.h"

#include <errno.h>

void life_call_begin(life *lf, double total)
{
    lf->call.total = total;
    lf->call.done = 0;
}

int life_call_tell(life *lf, double part)
{
    const double done = lf->call.done + part;
    if (!lf->progress || lf->progress(lf->arg, lf->call.total > 0 ? done / lf->call.total : 0) == 0)
        return 0;
    return clerror_set(ECANCELED, "life: stopped before the end");
}
