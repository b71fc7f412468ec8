/* exchange_slot.c - how what is shown comes from the run's thread to the server's: a box for one
 * state of each kind.
 *
 * Empty, it is the run's; full, it is the server's, which puts what it had into the box for it. So
 * nothing is copied twice, memory is reused, and neither side ever waits: the run asks view_due,
 * which says no while a box is full.
 * SPDX-License-Identifier: MIT
 */
#include "view/internal.h"

struct shown *mailbox_open(struct mailbox *box)
{
    return atomic_load_explicit(&box->full, memory_order_acquire) ? NULL : &box->shown;
}

void mailbox_post(struct mailbox *box)
{
    atomic_store_explicit(&box->full, true, memory_order_release);
}

bool mailbox_take(struct mailbox *box, struct shown *shown)
{
    if (!atomic_load_explicit(&box->full, memory_order_acquire))
        return false;
    const uint32_t sequence = shown->sequence;
    const struct shown before = *shown;
    *shown = box->shown;
    box->shown = before;
    shown->sequence = sequence + 1 ? sequence + 1 : 1; /* 0 means none */
    atomic_store_explicit(&box->full, false, memory_order_release);
    return true;
}

void shown_free(struct shown *shown)
{
    bytes_free(&shown->first);
    bytes_free(&shown->second);
}
