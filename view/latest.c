/* latest.c - the latest data in the server's thread: received from the run, and recorded.
 * SPDX-License-Identifier: MIT
 */
#include "view/window.h"

#include <stdio.h>

static void latest_take_rows(struct latest *s, struct view *v)
{
    size_t out = atomic_load_explicit(&v->rows_out, memory_order_relaxed);
    const size_t in = atomic_load_explicit(&v->rows_in, memory_order_acquire);
    s->rows.columns = v->about.columns;
    for (; out != in; out++)
        rows_add(&s->rows, v->row + out % ROWS_IN_FLIGHT * v->about.columns);
    atomic_store_explicit(&v->rows_out, out, memory_order_release);
    if (v->recording)
        recording_rows(v->recording, &s->rows);
}

/* Copy what the lock guards, holding it briefly: the run's thread only tries it. */
static void take_state(struct latest *s, struct view *v)
{
    pthread_mutex_lock(&v->lock);
    s->state = v->state;
    s->states = v->states;
    memcpy(s->box_of_cells, v->box_of_cells, sizeof s->box_of_cells);
    memcpy(s->rule, v->rule, sizeof s->rule);
    memcpy(s->objects, v->objects, sizeof s->objects);
    s->objects_step = v->objects_step;
    if (s->profiles_shown != v->profiles_shown) {
        free(s->profiles);
        s->profiles = strdup(v->profiles);
        s->profiles_shown = v->profiles_shown;
        if (v->recording)
            recording_text(v->recording, s->profiles);
    }
    if (s->said != v->said) {
        s->said = v->said;
        s->level = "info";
        memcpy(s->say, v->say, sizeof s->say);
        s->says++;
    }
    s->closing = v->closing;
    if (v->ending && !s->ending)
        s->ending = strdup(v->ending);
    pthread_mutex_unlock(&v->lock);
}

static void tell_of_recording(struct latest *s, const struct view *v)
{
    if (!v->recording || s->recording_told || !recording_failed(v->recording))
        return;
    s->recording_told = true;
    s->level = "error";
    snprintf(s->say, sizeof s->say, "the recording %s cannot be written any more; the run goes on",
             v->about.options.record);
    s->says++;
}

/* Zoom the recording of an unbounded plane out when cells reach the edge of its rectangle. */
static void step_back(struct latest *s, struct view *v)
{
    const struct shown *shown = &s->shown[CELLS];
    const struct view_field *field = &v->about.options.cells;
    if (field->width || shown->raw || !shown->n || shown->region[0].zoom != s->zoom ||
        s->zoom == MOST_ZOOM ||
        !region_touches_edge(&shown->region[0], shown->states, shown->first.at))
        return;
    s->zoom++;
    pthread_mutex_lock(&v->lock);
    v->region[0] = region_whole(field, s->zoom);
    pthread_mutex_unlock(&v->lock);
}

void latest_update(struct latest *s, struct view *v)
{
    for (int kind = POINTS; kind < ROWS; kind++)
        if (slot_take(&v->box[kind], &s->shown[kind]) && v->recording && !s->shown[kind].repeated) {
            recording_frame(v->recording, &s->shown[kind], (enum kind)kind, &s->box);
            if (kind == CELLS)
                step_back(s, v);
        }
    latest_take_rows(s, v);
    take_state(s, v);
    tell_of_recording(s, v);
}

void latest_free(struct latest *s)
{
    for (int kind = 0; kind < KINDS; kind++)
        shown_free(&s->shown[kind]);
    free(s->rows.value);
    free(s->ending);
    free(s->profiles);
}
