/* flags.c - refusal of flags that a call does not take: ignored, they would change a program's
 * meaning without a word.
 * SPDX-License-Identifier: MIT
 */
#include "core/core.h"

/* A public flag and its name. Flags of different groups share bits. */
struct flag {
    int bit;
    const char *name;
};
#define FLAG(name)                                                                                 \
    {                                                                                              \
        name, #name                                                                                \
    }

static const struct flag command_flags[] = {
    FLAG(CL_EVENT_WAIT),       FLAG(CL_EVENT_NOWAIT),  FLAG(CL_EVENT_RELEASE),
    FLAG(CL_EVENT_NORELEASE),  FLAG(CL_KERNEL_EVENT),  FLAG(CL_MEM_EVENT),
    FLAG(CL_EVENT_UNCOUNTED),  FLAG(CL_EVENT_CHECKED), FLAG(CL_EVENT_OWN),
    FLAG(CL_EVENT_SIDE_QUEUE), FLAG(CL_EVENT_BARRIER), FLAG(CL_MEM_HOST),
    FLAG(CL_MEM_DEVICE),       FLAG(CL_MEM_NOFORCE),   {0, NULL}};

static const struct flag loader_flags[] = {FLAG(CLLD_LAZY),  FLAG(CLLD_NOW),    FLAG(CLLD_NOBUILD),
                                           FLAG(CLLD_CACHE), FLAG(CLLD_GLOBAL), {0, NULL}};

static const struct flag memory_flags[] = {
    FLAG(CL_MEM_DETACHED), FLAG(CL_MEM_ZEROCOPY),   FLAG(CL_MEM_DEVONLY), FLAG(CL_MEM_IMAGE),
    FLAG(CL_MEM_SAMPLER),  FLAG(CL_MEM_PER_DEVICE), FLAG(CL_MEM_SVM),     {0, NULL}};

/* Fail because of `unknown`; the message lists the flags of a group that are `known`. */
static int flags_refuse(int unknown, int known, const struct flag *group, const char *call)
{
    char list[400] = "";
    size_t used = 0;
    for (const struct flag *f = group; f->name; f++)
        if ((f->bit & known) && used < sizeof list)
            used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", used ? ", " : "",
                                     f->name);
    return fail(EINVAL, 0, "%s: 0x%x is no flag of this call; it takes %s", call, (unsigned)unknown,
                list);
}

int command_flags_check(int flags, int known, const char *call)
{
    const int both = CL_EVENT_WAIT | CL_EVENT_NOWAIT;
    if (flags & ~known)
        return flags_refuse(flags & ~known, known, command_flags, call);
    if ((flags & both) == both)
        return fail(EINVAL, 0, "%s: give CL_EVENT_WAIT or CL_EVENT_NOWAIT, not both", call);
    return 0;
}

int loader_flags_check(int flags, const char *call)
{
    const int known = CLLD_LAZY | CLLD_NOW | CLLD_NOBUILD | CLLD_CACHE | CLLD_GLOBAL;
    return flags & ~known ? flags_refuse(flags & ~known, known, loader_flags, call) : 0;
}

int memory_flags_check(int flags, int known, const char *call)
{
    return flags & ~known ? flags_refuse(flags & ~known, known, memory_flags, call) : 0;
}
