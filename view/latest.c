/* latest.c - the newest of all that is shown, in the server's thread: what the run gave, and what
 * was recorded of it.
 * SPDX-License-Identifier: MIT
 */
#include "view/internal.h"

#include <stdio.h>

static void take_rows(struct stage *s, struct view *v)
{
    size_t out = atomic_load_explicit(&v->rows_out, memory_order_relaxed);
    const size_t in = atomic_load_explicit(&v->rows_in, memory_order_acquire);
    s->rows.columns = v->about.columns;
    for (; out != in; out++)
        rows_add(&s->rows, v->row + out % ROWS_ON_THE_WAY * v->about.columns);
    atomic_store_explicit(&v->rows_out, out, memory_order_release);
    if (v->recording)
        recording_rows(v->recording, &s->rows);
}

/* What the lock guards. The run's thread only tries it, so it is held for as long as copying
 * takes. */
static void take_state(struct stage *s, struct view *v)
{
    pthread_mutex_lock(&v->lock);
    s->state = v->state;
    s->states = v->states;
    s->closing = v->closing;
    if (v->ending && !s->ending)
        s->ending = strdup(v->ending);
    pthread_mutex_unlock(&v->lock);
}

static void tell_of_recording(struct stage *s, const struct view *v)
{
    if (!v->recording || s->recording_told || !recording_failed(v->recording))
        return;
    s->recording_told = true;
    s->level = "error";
    snprintf(s->say, sizeof s->say, "the recording %s cannot be written any more; the run goes on",
             v->about.options.record);
    s->says++;
}

/* A recording of a plane without edges goes farther away when cells have come to the edge of what
 * it has. */
static void step_back(struct stage *s, struct view *v)
{
    const struct shown *shown = &s->shown[CELLS];
    const struct view_field *field = &v->about.options.cells;
    if (field->width || shown->raw || !shown->n || shown->region[0].zoom != s->zoom ||
        s->zoom == MOST_ZOOM || !region_reached(&shown->region[0], shown->states, shown->first.at))
        return;
    s->zoom++;
    pthread_mutex_lock(&v->lock);
    v->region[0] = region_whole(field, s->zoom);
    pthread_mutex_unlock(&v->lock);
}

void stage_take(struct stage *s, struct view *v)
{
    for (int kind = POINTS; kind < ROWS; kind++)
        if (mailbox_take(&v->box[kind], &s->shown[kind]) && v->recording) {
            recording_frame(v->recording, &s->shown[kind], (enum kind)kind, &s->box);
            if (kind == CELLS)
                step_back(s, v);
        }
    take_rows(s, v);
    take_state(s, v);
    tell_of_recording(s, v);
}

void stage_free(struct stage *s)
{
    for (int kind = 0; kind < KINDS; kind++)
        shown_free(&s->shown[kind]);
    free(s->rows.value);
    free(s->ending);
}
