/* view_cells.c - patterns of Life for `stdcl view`: one frame; each viewer sees a region.
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

static bool pattern_is_alive(const struct life_pattern *p, int64_t x, int64_t y)
{
    const int64_t column = x - (int64_t)p->left, row = y - (int64_t)p->top;
    return column >= 0 && row >= 0 && (uint64_t)column < p->columns && (uint64_t)row < p->rows &&
           (p->word[(size_t)row * p->stride + (size_t)column / 64] >> column % 64 & 1);
}

static void pattern_bits(const struct life_pattern *p, const struct view_region *r, uint8_t *body)
{
    const size_t bytes = ((size_t)r->width + 7) / 8;
    for (uint32_t j = 0; j < r->height; j++)
        for (uint32_t i = 0; i < r->width; i++)
            body[j * bytes + i / 8] |= (uint8_t)(pattern_is_alive(p, r->x + i, r->y + j) << i % 8);
}

static void pattern_states(const struct life_pattern *p, const struct view_region *r, uint8_t *body)
{
    for (uint32_t j = 0; j < r->height; j++)
        for (uint32_t i = 0; i < r->width; i++)
            if (pattern_is_alive(p, r->x + i, r->y + j))
                body[(size_t)j * r->width + i] =
                    p->state[(size_t)(r->y + j - (int64_t)p->top) * p->columns +
                             (size_t)(r->x + i - (int64_t)p->left)];
}

/* Count live cells per pixel by iterating over the pattern, which has fewer cells than the
 * region. */
static void pattern_shades(const struct life_pattern *p, const struct view_region *r, uint8_t *body)
{
    uint64_t *live = cli_alloc((size_t)r->width * r->height + 1, sizeof *live);
    for (size_t row = 0; row < p->rows; row++)
        for (size_t column = 0; column < p->columns; column++) {
            const int64_t x = (int64_t)(p->left + column) - r->x,
                          y = (int64_t)(p->top + row) - r->y;
            if (!(p->word[row * p->stride + column / 64] >> column % 64 & 1) || x < 0 || y < 0)
                continue;
            if (x >> r->zoom < r->width && y >> r->zoom < r->height)
                live[(size_t)(y >> r->zoom) * r->width + (size_t)(x >> r->zoom)]++;
        }
    for (size_t k = 0; k < (size_t)r->width * r->height; k++)
        body[k] = view_cells_shade(live[k], r->zoom);
    free(live);
}

static uint64_t pattern_population(const struct life_pattern *p)
{
    uint64_t sum = 0;
    for (size_t k = 0; k < p->rows * p->stride; k++)
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
        (region[i].zoom ? pattern_shades
         : many > 2     ? pattern_states
                        : pattern_bits)(&job->pattern, &region[i], body[i]);
    }
    const struct view_moment at = {(double)job->pattern.generation,
                                   (uint64_t)job->pattern.generation, last};
    const int status =
        view_show_cells(job->window.view, at, pattern_population(&job->pattern), n, cells) < 0
            ? cli_failed_call(NULL)
            : CLI_DONE;
    for (int i = 0; i < n; i++)
        free(body[i]);
    return status;
}

int view_cells_open(struct view_job *job)
{
    struct life_pattern *p = &job->pattern;
    if (life_pattern_read(job->file.item[0], p) < 0)
        return cli_failed_call(NULL);
    job->frames = 1;
    job->show = show_pattern;
    job->about = (struct view_options){.program = "life",
                                       .title = cli_window_name(job->file.item[0]),
                                       .step = "generation",
                                       .time = "generation",
                                       .cells = {p->width ? p->width : 1, p->height ? p->height : 1,
                                                 "plane", *p->rule ? p->rule : "B3/S23",
                                                 p->state ? p->states : 2, p->colours}};
    return CLI_DONE;
}
