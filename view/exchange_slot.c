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

/* True if a state at the end was shown before. The first rectangle of cells is the recorded one. */
static bool shown_is_repeated(const struct shown *now, const struct shown *before)
{
    const struct view_region *const r = &now->region[0];
    const size_t size = r->width ? view_cells_bytes(r, now->states) : now->first.used;
    return now->at.last && !now->raw && before->sequence && now->at.step == before->at.step &&
           !(now->at.time < before->at.time || now->at.time > before->at.time) &&
           now->states == before->states && region_same(r, &before->region[0]) &&
           (r->width || now->first.used == before->first.used) && size <= before->first.used &&
           (size == 0 || memcmp(now->first.at, before->first.at, size) == 0);
}

bool slot_take(struct exchange_slot *box, struct shown *shown)
{
    if (!atomic_load_explicit(&box->full, memory_order_acquire))
        return false;
    const uint32_t sequence = shown->sequence;
    box->shown.repeated = shown_is_repeated(&box->shown, shown);
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
