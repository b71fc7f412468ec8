/* nbody_places.c - refuse coincident bodies without softening: their force is infinite. */
/* SPDX-License-Identifier: MIT */
#include "command.h"
#include "alloc.h"
#include "message.h"
#include "nbody_bodies.h"

#include <math.h>
#include <stdbool.h>
#include <stdcl.h>
#include <stddef.h>
#include <stdlib.h>

static const struct particles *sorted; /* for compare_body_places */

static int compare_places(const double a[3], const double b[3])
{
    for (int k = 0; k < 3; k++)
        if (a[k] < b[k] || a[k] > b[k])
            return a[k] < b[k] ? -1 : 1;
    return 0;
}

static int compare_body_places(const void *a, const void *b)
{
    const size_t i = *(const size_t *)a, j = *(const size_t *)b;
    const int places = compare_places(sorted->pos[i], sorted->pos[j]);
    return places ? places : (i > j) - (i < j);
}

static bool is_hard(const struct nbody_job *job, size_t i)
{
    return !(job->own_eps ? job->bodies.softening[i] > 0 : job->eps > 0);
}

/* True for two coincident bodies with mass and without softening. */
static bool attract_infinitely(const struct nbody_job *job, size_t i, size_t j)
{
    const struct particles *b = &job->bodies;
    return compare_places(b->pos[i], b->pos[j]) == 0 && b->mass[i] + b->mass[j] > 0 &&
           is_hard(job, i) && is_hard(job, j);
}

int nbody_places_check(const struct nbody_job *job)
{
    const struct particles *b = &job->bodies;
    if (job->resumed || (!job->own_eps && job->eps > 0))
        return CLI_DONE;
    size_t *order = cli_alloc(b->n, sizeof *order), at = 0;
    for (size_t i = 0; i < b->n; i++)
        order[i] = i;
    sorted = b;
    qsort(order, b->n, sizeof *order, compare_body_places);
    while (at + 1 < b->n && !attract_infinitely(job, order[at], order[at + 1]))
        at++;
    const size_t first = order[at], second = at + 1 < b->n ? order[at + 1] : 0;
    free(order);
    if (at + 1 >= b->n)
        return CLI_DONE;
    return cli_failed(
        "bodies %zu and %zu coincide at %g %g %g: without softening their force is infinite; move one, or give --eps",
        first + 1, second + 1, b->pos[first][0], b->pos[first][1], b->pos[first][2]);
}
