/* forked.c - processes forked after the first use of OpenCL.
 *
 * A driver's threads do not survive fork(): a child that waits for a command waits forever, and a
 * lock that another thread held stays locked. Calls in such a child are therefore refused before
 * they take a lock or call OpenCL. A child of a process that has not used OpenCL is not affected.
 * SPDX-License-Identifier: MIT
 */
#include "core/core.h"

_Atomic bool core_is_forked;

static void mark_child(void)
{
    atomic_store(&core_is_forked, true);
}

static void watch(void)
{
    pthread_atfork(NULL, NULL, mark_child);
}

void forked_watch(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch);
}

bool forked_refuse(const char *call)
{
    fail(ENOTSUP, 0,
         "%s: this process was forked after OpenCL had been used, and drivers do not survive "
         "fork(); fork before the first call, or start a program with exec",
         call);
    return true;
}
