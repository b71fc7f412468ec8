/* life_edge.c - detect when an unbounded pattern on a bounded grid reaches the edges.
 *
 * Cells change only within the rule's range of live ones: a pattern m cells from an edge reaches
 * it after m generations at the earliest, or m / R under a rule of range R. The cells are
 * checked only then, which costs no speed. The edges of a torus lie opposite the pattern. Under
 * a rule with B0 the background may be alive: on a torus, "live" here means different from the
 * cell farthest from the pattern.
 * SPDX-License-Identifier: MIT
 */
#include "command.h"
#include "message.h"
#include "ranks.h"
#include "life_grid.h"
#include "life_plane.h"

#include <errno.h>
#include <inttypes.h>
#include <ctype.h>
#include <stdbool.h>
#include <stdcl.h>
#include <stdcl/world.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
    STRIP = 1 << 22,        /* maximum number of cells checked along an edge */
    FREQUENT_CHECKS = 1000, /* after this number of checks, check only every */
    SELDOM = 256
}; /* SELDOM generations */

bool life_job_has_triangles(const struct life_job *job)
{
    const char *rule = job->rule;
    return !job->transitions && toupper((unsigned char)*rule) == 'R' &&
           toupper((unsigned char)rule[strlen(rule) - 1]) == 'L';
}

/* Position by --at; else from a file that names a grid; else centred, so that triangles keep the
 * orientation that they have in the file. */
void life_job_corner(const struct life_job *job, long long *x, long long *y)
{
    const struct life_pattern *p = &job->pattern;
    const long long width = (long long)job->size.width, height = (long long)job->size.height;
    if (job->at.given) {
        *x = job->at.x;
        *y = job->at.y;
    } else if (p->placed && p->bounds[0] && !job->rule_text) {
        *x = width / 2 + (job->infinite[0] ? -(long long)(p->width / 2) : p->x);
        *y = height / 2 + (job->infinite[1] ? -(long long)(p->height / 2) : p->y);
    } else {
        *x = width / 2 - (long long)(p->width / 2); /* as in Golly */
        *y = height / 2 - (long long)(p->height / 2);
        if (!job->size_of_rule && life_job_has_triangles(job))
            *x -= (*x + *y + (p->placed ? p->x + p->y : 0)) & 1;
    }
}

/* Distance of the first live row or column from the first, or from the last; `most` if there is
 * none. `alive`: of the first dead one. */
static size_t first_live_distance(const struct life_cells *c, bool rows, bool last, size_t most,
                                  bool alive)
{
    const uint64_t whole = alive ? ~(uint64_t)0 : 0,
                   end = c->width % 64 ? ((uint64_t)1 << c->width % 64) - 1 : ~(uint64_t)0;
    for (size_t i = 0; i < most; i++) {
        const size_t at = last ? most - 1 - i : i;
        for (size_t j = 0; j < (rows ? c->stride : c->height); j++)
            if (rows ? ((c->word[at * c->stride + j] ^ whole) &
                        (j + 1 < c->stride ? ~(uint64_t)0 : end)) != 0
                     : life_cells_at(c, at, j) != alive)
                return i;
    }
    return most;
}

/* Corner of the grid; on a torus, the point farthest from the middle of the pattern. */
static void grid_corner(const struct life_job *job, long long *x, long long *y)
{
    const struct life_pattern *p = &job->pattern;
    *x = *y = 0;
    if (job->bounds != LIFE_TORUS)
        return;
    life_job_corner(job, x, y);
    *x += (long long)(p->left + p->columns / 2 + job->size.width / 2);
    *y += (long long)(p->top + p->rows / 2 + job->size.height / 2);
}

/* Get the cells of a rectangle that are not 0. It may cross the edge of a torus. */
static int get_nonzero(life *lf, long long x, long long y, struct life_cells *cells)
{
    const size_t width = life_width(lf), height = life_height(lf);
    if (life_states(lf) == 2)
        return life_get(lf, x, y, cells);
    unsigned char *row = malloc(width);
    int status = row ? 0 : clerror_set(ENOMEM, "out of memory for a row of %zu cells", width);
    for (size_t j = 0; j < cells->height && status == 0; j++) {
        status = life_get_states(
            lf, 0, (long long)(((size_t)(y % (long long)height + (long long)height) + j) % height),
            width, 1, row);
        for (size_t i = 0; i < cells->width && status == 0; i++)
            cells->word[j * cells->stride + i / 64] |=
                (uint64_t)(row[((size_t)(x % (long long)width + (long long)width) + i) % width] !=
                           0)
                << i % 64;
    }
    free(row);
    return status;
}

/* Measure the dead margin at one of the four edges, up to `thick` cells. */
static int edge_margin(const struct life_job *job, bool rows, bool last, size_t thick,
                       size_t *margin)
{
    struct life_cells cells;
    const size_t width = job->size.width, height = job->size.height;
    long long x, y;
    grid_corner(job, &x, &y);
    x += rows || !last ? 0 : (long long)(width - thick);
    y += rows && last ? (long long)(height - thick) : 0;
    if (life_cells_alloc(&cells, rows ? width : thick, rows ? thick : height) < 0)
        return cli_failed_call(NULL);
    const int status = get_nonzero(job->engine_of_run, x, y, &cells);
    if (status == 0)
        *margin = first_live_distance(
            &cells, rows, last, thick,
            job->bounds == LIFE_TORUS &&
                life_cells_at(&cells, rows || !last ? 0 : thick - 1, rows && last ? thick - 1 : 0));
    life_cells_free(&cells);
    return status < 0 ? cli_failed_call(NULL) : CLI_DONE;
}

/* Smallest dead margin of all four edges. */
static int smallest_margin(const struct life_job *job, uint64_t *margin)
{
    const size_t width = job->size.width, height = job->size.height,
                 longer = width > height ? width : height;
    const size_t half = ((width < height ? width : height) + 1) / 2,
                 thick = STRIP / longer < half ? STRIP / longer + 1 : half;
    *margin = thick;
    for (int i = 0; i < 4; i++) {
        size_t m = thick;
        if (job->rule_has_grid && !job->infinite[i % 2]) /* an intended edge */
            continue;
        if (edge_margin(job, i % 2, i / 2, thick, &m) != CLI_DONE)
            return CLI_FAILED;
        *margin = m < *margin ? m : *margin;
    }
    return world_broadcast(cli_world, 0, margin, sizeof *margin) != 0 ? cli_failed_call(NULL)
                                                                      : CLI_DONE;
}

static void warn_of_edge(const struct life_job *job, const char *met)
{
    char at[LIFE_GENERATION_TEXT];
    if (!job->common.quiet)
        cli_warn(
            "%s %s: at generation %s its cells %s the edges of the %s of %zu x %zu; from then on they may differ from those on %s%s",
            job->input, job->rule_has_grid ? "has a grid with an infinite side" : "has no grid",
            life_job_generation_text(job, job->started + job->edge.met, at), met,
            life_job_bounds(job), job->size.width, job->size.height,
            job->rule_has_grid ? "such a grid" : "an unbounded plane",
            job->rule_has_grid                                 ? ""
            : life_neighbourhood_range(job->engine_of_run) > 1 ? "; give a larger --size"
                                                               : "; use --engine hashlife");
}

int life_edge_look(struct life_job *job)
{
    const uint64_t now = life_job_done(job);
    uint64_t margin;
    if (!job->edge.watched || now < job->edge.next)
        return CLI_DONE;
    if (smallest_margin(job, &margin) != CLI_DONE)
        return CLI_FAILED;
    margin /= life_neighbourhood_range(job->engine_of_run);
    job->edge.next =
        now ? now + (margin < SELDOM && ++job->edge.looks > FREQUENT_CHECKS ? SELDOM : margin)
            : margin > 0; /* B0 takes effect after one generation */
    if (margin)
        return CLI_DONE;
    job->edge.watched = false;
    job->edge.was_met = true;
    job->edge.met = now;
    if (!job->watch)
        warn_of_edge(job, job->edge.looks > FREQUENT_CHECKS ? "had reached" : "reached");
    return CLI_DONE;
}

int life_edge_open(struct life_job *job)
{
    job->edge.watched =
        job->input && !job->soup && (!job->rule_has_grid || job->infinite[0] || job->infinite[1]);
    return life_edge_look(job);
}

uint64_t life_edge_batch(const struct life_job *job, uint64_t n)
{
    const uint64_t left = job->edge.next - life_job_done(job);
    return job->edge.watched && left < n ? left : n;
}

void life_edge_end(struct life_job *job)
{
    if (job->watch && job->edge.was_met) /* the terminal was in use */
        warn_of_edge(job, "reached");
}
