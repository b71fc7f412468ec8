/* frame.c - frames of bars, tables and rows, and the head of all frames. WIRE.md draws them.
 * SPDX-License-Identifier: MIT
 */
#include "view/frame.h"

void frame_head(struct bytes *to, enum kind kind, int flags, const struct shown *shown)
{
    bytes_u(to, kind, 1);
    bytes_u(to, RAW, 1); /* replaced when the frame is compressed */
    bytes_u(to, (uint64_t)(flags | (shown->at.last ? LAST : 0)), 2);
    bytes_u(to, shown->sequence, 4);
    bytes_f64(to, shown->at.time);
    bytes_u(to, shown->at.step, 8);
}

bool frame_bars(struct bytes *to, const struct shown *shown)
{
    frame_head(to, BARS, 0, shown);
    bytes_u(to, shown->n, 4);
    bytes_u(to, 0, 4);
    bytes_f64(to, shown->top);
    bytes_put(to, shown->first.at, shown->first.used);
    bytes_put(to, shown->second.at, shown->second.used);
    return !to->failed;
}

bool frame_grid(struct bytes *to, const struct shown *shown, const struct about *about)
{
    frame_head(to, GRID, 0, shown);
    bytes_u(to, about->grid_rows, 4);
    bytes_u(to, about->grid_columns, 4);
    bytes_put(to, shown->first.at, shown->first.used);
    return !to->failed;
}

/* ---- Rows. --------------------------------------------------------------------------------- */

static void frame_thin(struct rows *rows)
{
    const size_t bytes = rows->columns * sizeof *rows->value;
    for (size_t i = 0; 2 * i < rows->n; i++)
        memmove(rows->value + i * rows->columns, rows->value + 2 * i * rows->columns, bytes);
    rows->n = (rows->n + 1) / 2;
    rows->every *= 2;
    rows->thinned++;
}

void rows_add(struct rows *rows, const double *value)
{
    if (!rows->value)
        rows->value = calloc(MOST_ROWS, rows->columns * sizeof *rows->value);
    rows->every += rows->every == 0;
    if (!rows->value || rows->skipped++ % rows->every)
        return;
    if (rows->n == MOST_ROWS)
        frame_thin(rows);
    memcpy(rows->value + rows->n++ * rows->columns, value, rows->columns * sizeof *value);
}

bool frame_rows(struct bytes *to, const struct rows *rows, size_t first, bool forget)
{
    frame_head(to, ROWS, forget ? FORGET : 0, &(struct shown){.sequence = (uint32_t)rows->n});
    bytes_u(to, first, 4);
    bytes_u(to, rows->n - first, 4);
    bytes_u(to, rows->columns, 4);
    bytes_u(to, 0, 4);
    for (size_t k = first * rows->columns; k < rows->n * rows->columns; k++)
        bytes_f64(to, rows->value[k]);
    return !to->failed;
}
