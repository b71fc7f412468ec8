/* view_cells.c - patterns of Life for `stdcl view`, in recordings and pages: one frame; each viewer
 * sees a region.
 * SPDX-License-Identifier: MIT
 */
#include "command.h"
#include "alloc.h"
#include "message.h"
#include "view_job.h"

#include <stdbool.h>
#include <stdcl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* The content of a region: bits or states of cells, or `live`, cells per pixel. */
struct painting {
    const struct view_region *region;
    unsigned states;
    uint8_t *body;
    uint64_t *live; /* NULL: cells are as large as pixels */
};

static void paint_cell(const struct painting *p, int64_t x, int64_t y, unsigned state)
{
    const struct view_region *r = p->region;
    const int64_t column = (x - r->x) >> r->zoom, row = (y - r->y) >> r->zoom;
    if (column < 0 || row < 0 || column >= r->width || row >= r->height)
        return;
    if (p->live)
        p->live[(size_t)row * r->width + (size_t)column]++;
    else if (p->states > 2)
        p->body[(size_t)row * r->width + (size_t)column] = (uint8_t)state;
    else
        p->body[(size_t)row * ((r->width + 7) / 8) + (size_t)column / 8] |=
            (uint8_t)(1 << column % 8);
}

/* Paint the live cells among up to 64 of a row, from (x, y) on. */
static void paint_word(const struct painting *p, int64_t x, int64_t y, uint64_t word,
                       const unsigned char *state)
{
    for (; word; word &= word - 1) {
        const int i = __builtin_ctzll(word);
        paint_cell(p, x + i, y, state ? state[i] : 1);
    }
}

/* Paint the live cells of a file, in tiles or in a rectangle. */
static void paint_pattern(const struct life_plane *plane, const struct painting *to)
{
    const struct life_pattern *p = &plane->p;
    for (size_t i = 0; i < plane->tiles; i++)
        for (int row = 0; row < 64; row++) {
            const struct life_tile *t = &plane->tile[i];
            paint_word(to, t->x, t->y + row, t->row[row], t->state ? t->state + 64 * row : NULL);
        }
    for (size_t row = 0; row < p->rows && p->word; row++)
        for (size_t i = 0; i < p->stride; i++)
            paint_word(to, (int64_t)(p->left + 64 * i), (int64_t)(p->top + row),
                       p->word[row * p->stride + i],
                       p->state ? p->state + row * p->columns + 64 * i : NULL);
}

static void paint_region(const struct view_job *job, const struct view_region *r, unsigned states,
                         uint8_t *body)
{
    const size_t n = (size_t)r->width * r->height;
    struct painting to = {.region = r, .states = states, .body = body};
    if (r->zoom)
        to.live = cli_alloc(n + 1, sizeof *to.live);
    paint_pattern(&job->plane, &to);
    for (size_t k = 0; k < n && to.live; k++)
        body[k] = view_cells_shade(to.live[k], r->zoom);
    free(to.live);
}

static uint64_t pattern_population(const struct life_plane *plane)
{
    const struct life_pattern *p = &plane->p;
    uint64_t sum = 0;
    for (size_t i = 0; i < plane->tiles; i++)
        for (int row = 0; row < 64; row++)
            sum += (uint64_t)__builtin_popcountll(plane->tile[i].row[row]);
    for (size_t k = 0; k < p->rows * p->stride && p->word; k++)
        sum += (uint64_t)__builtin_popcountll(p->word[k]);
    return sum;
}

static int show_pattern(void *arg, int last)
{
    struct view_job *job = arg;
    struct view_region region[VIEW_REGIONS];
    struct view_cells cells[VIEW_REGIONS];
    uint8_t *body[VIEW_REGIONS];
    const unsigned many = job->about.cells.states;
    const int n = view_regions_wanted(job->window.view, region);
    for (int i = 0; i < n; i++) {
        body[i] = cli_alloc(view_cells_bytes(&region[i], many) + 1, 1);
        cells[i] = (struct view_cells){region[i], body[i]};
        paint_region(job, &region[i], many, body[i]);
    }
    const struct view_moment at = {(double)job->plane.p.generation,
                                   (uint64_t)job->plane.p.generation, last};
    const int status =
        view_show_cells(job->window.view, at, pattern_population(&job->plane), n, cells) < 0
            ? cli_failed_call(NULL)
            : CLI_DONE;
    for (int i = 0; i < n; i++)
        free(body[i]);
    return status;
}

/* Read a file in tiles. A macrocell file becomes a rectangle: its squares cannot be drawn. */
static int read_for_view(const char *file, struct life_plane *plane)
{
    if (life_plane_read(file, plane) < 0)
        return -1;
    if (!plane->squares.n)
        return 0;
    life_plane_free(plane);
    return life_pattern_read(file, &plane->p);
}

int view_cells_open(struct view_job *job)
{
    const struct life_pattern *p = &job->plane.p;
    if (read_for_view(job->file.item[0], &job->plane) < 0)
        return cli_failed_call(NULL);
    job->frames = 1;
    job->show = show_pattern;
    job->about = (struct view_options){.program = "life",
                                       .title = cli_window_name(job->file.item[0]),
                                       .step = "generation",
                                       .time = "generation",
                                       .cells = {p->width ? p->width : 1, p->height ? p->height : 1,
                                                 "plane", *p->rule ? p->rule : "B3/S23",
                                                 p->states > 2 ? p->states : 2, p->colours}};
    return CLI_DONE;
}
