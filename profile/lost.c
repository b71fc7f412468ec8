/* lost.c - commands and phases that there was no memory to note: a report without them would be
 * wrong.
 * SPDX-License-Identifier: MIT
 */
#include "profile/profile.h"

void profile_lose(struct profile *p)
{
    pthread_mutex_lock(&p->lock);
    p->lost++;
    pthread_mutex_unlock(&p->lock);
}

int profile_lacks(struct profile *p, const char *call)
{
    pthread_mutex_lock(&p->lock);
    const size_t lost = p->lost;
    pthread_mutex_unlock(&p->lock);
    if (lost == 0)
        return 0;
    return fail(
        ENOMEM, 0,
        "%s: commands or phases are missing, %zu in all: there was no memory on the host to note them; "
        "clprofile_reset begins anew",
        call, lost);
}
