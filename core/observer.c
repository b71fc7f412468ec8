/* observer.c - the observer's interface to the core, and the calls that report commands to it.
 * SPDX-License-Identifier: MIT
 */
#include "core/kernel.h"

void context_observe(CLCONTEXT *cp, void *place)
{
    atomic_store_explicit(&cp->observed, place, memory_order_release);
}

void *context_observed(const CLCONTEXT *cp)
{
    return atomic_load_explicit(&cp->observed, memory_order_acquire);
}

CLCONTEXT *kernel_context(const struct kernel *k)
{
    return k->program->cp;
}

const char *kernel_name(const struct kernel *k)
{
    return k->name;
}

void **kernel_place(struct kernel *k)
{
    return &k->place;
}

void kernel_lock(struct kernel *k)
{
    pthread_mutex_lock(&k->lock);
}

void kernel_unlock(struct kernel *k)
{
    pthread_mutex_unlock(&k->lock);
}

cl_command_queue command_queue(const struct command *c, struct command_record *note)
{
    if (c->uncounted || !context_observed(c->cp))
        return c->cp->dev[c->dev].queue;
    return core_observer->command_begins(c, note);
}

void command_started(const struct command *c, struct command_record *note, cl_event ev)
{
    if (note->line)
        core_observer->command_started(c, note, ev);
}

void command_collected(struct command_record *note, cl_event ev)
{
    if (note->line && core_observer->command_collected(note, ev))
        note->line = NULL;
}
