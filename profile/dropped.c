/* dropped.c - counts records that were dropped because the host was out of memory: a report without
 * them would be wrong.
 * SPDX-License-Identifier: MIT
 */
#include "profile/profile.h"

void profile_drop(struct profile *p)
{
    pthread_mutex_lock(&p->lock);
    p->dropped++;
    pthread_mutex_unlock(&p->lock);
}

int profile_check_complete(struct profile *p, const char *call)
{
    pthread_mutex_lock(&p->lock);
    const size_t dropped = p->dropped;
    pthread_mutex_unlock(&p->lock);
    if (dropped == 0)
        return 0;
    return fail(ENOMEM, 0,
                "%s: %zu commands or phases are missing: the host was out of memory; "
                "clprofile_reset starts again",
                call, dropped);
}
