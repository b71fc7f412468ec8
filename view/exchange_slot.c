/* exchange_slot.c - one-slot exchange of shown data from the run's thread to the server's, per
 * kind.
 *
 * An empty slot belongs to the run, a full one to the server, which swaps its old buffer into it.
 * Nothing is copied twice, buffers are reused, and neither side waits: view_due says no while a
 * slot is full.
 * SPDX-License-Identifier: MIT
 */
#include "view/window.h"

struct shown *slot_begin(struct exchange_slot *box)
{
    return atomic_load_explicit(&box->full, memory_order_acquire) ? NULL : &box->shown;
}

void slot_publish(struct exchange_slot *box)
{
    atomic_store_explicit(&box->full, true, memory_order_release);
}

bool slot_take(struct exchange_slot *box, struct shown *shown)
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
    bytes_free(&shown->path);
}
