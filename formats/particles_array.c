/* particles_array.c - arrays of bodies in memory, and access by column.
 * SPDX-License-Identifier: MIT
 */
#include "formats/particles_format.h"

#include "core/host_memory.h"
#include "stdcl.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

const char *const particles_columns[7] = {"mass", "x", "y", "z", "vx", "vy", "vz"};

double particles_value(const struct particles *p, size_t i, int column)
{
    return column == 0 ? p->mass[i] : column < 4 ? p->pos[i][column - 1] : p->vel[i][column - 4];
}

void particles_free(struct particles *p)
{
    free(p->mass);
    free(p->pos);
    free(p->vel);
    free(p->softening);
    free(p->potential);
    free(p->id);
    free(p->radius);
    free(p->primary);
    for (int k = 0; k < PARTICLES_NOTE_COUNT; k++)
        free(p->note[k]);
    free(p->missing);
    free(p->origin);
    free(p->space);
    memset(p, 0, sizeof *p);
}

/* Grow the array; on failure the old one stays. */
static bool particles_array_grow(void **array, size_t room, size_t size)
{
    void *grown = realloc(*array, room * size);
    *array = grown ? grown : *array;
    return grown != NULL;
}

int particles_reserve(struct particles *p, size_t room, const char *name)
{
    void *all[] = {p->mass, p->pos, p->vel, p->softening, p->potential, p->id, p->radius};
    static const size_t size[] = {8, 24, 24, 8, 8, 8, 8};
    const bool wanted[] = {true,
                           true,
                           true,
                           p->also & PARTICLES_SOFTENING,
                           p->also & PARTICLES_POTENTIAL,
                           p->also & PARTICLES_ID,
                           p->also & PARTICLES_RADIUS};
    size_t bytes = 0;
    for (int k = 0; k < 7; k++)
        bytes += wanted[k] ? size[k] : 0;
    const double more = ((double)room - (double)p->n) * (double)bytes; /* n are in use */
    bool fits = room <= SIZE_MAX / sizeof *p->pos && (more <= 0 || more <= host_memory_left());
    for (int k = 0; k < 7; k++)
        fits = fits && (!wanted[k] || particles_array_grow(&all[k], room, size[k]));
    p->mass = all[0], p->pos = all[1], p->vel = all[2];
    p->softening = all[3], p->potential = all[4], p->id = all[5], p->radius = all[6];
    return fits ? 0
                : clerror_set(ENOMEM, "%s: out of memory for %zu bodies (%.0f MiB)", name, room,
                              (double)room * (double)bytes / 1048576);
}

int particles_refuse_parts(const char *name)
{
    return clerror_set(ENOTSUP, "%s: cannot be read in parts", name);
}

size_t particles_begin_part(const char *name, size_t part, size_t parts, struct particles *p)
{
    const size_t all = p->all;
    if (all < parts)
        return particles_refuse_parts(name), 0;
    particles_set_part(p, all, part, parts);
    const size_t n = p->n;
    p->n = 0;
    return particles_reserve(p, n, name) < 0 ? 0 : n;
}

int particles_check_body(const char *name, const struct particles *p, size_t i, const char *kind)
{
    char which[48];
    snprintf(which, sizeof which, "body %zu%s%s%s", p->first + i + 1, kind ? " (" : "",
             kind ? kind : "", kind ? ")" : "");
    for (int c = 0; c < 7; c++)
        if (!isfinite(particles_value(p, i, c)))
            return clerror_set(EINVAL, "%s: %s of %s is %g", name, particles_columns[c], which,
                               particles_value(p, i, c));
    if (p->mass[i] < 0)
        return clerror_set(EINVAL, "%s: the mass %g of %s is negative", name, p->mass[i], which);
    if (p->softening && !(p->softening[i] >= 0 && isfinite(p->softening[i])))
        return clerror_set(EINVAL, "%s: the softening of %s is %g", name, which, p->softening[i]);
    if (p->potential && !isfinite(p->potential[i]))
        return clerror_set(EINVAL, "%s: the potential of %s is %g", name, which, p->potential[i]);
    if (p->radius && !(p->radius[i] >= 0 && isfinite(p->radius[i])))
        return clerror_set(EINVAL, "%s: the radius of %s is %g", name, which, p->radius[i]);
    return 0;
}

/* True without an array. */
static bool all_zero(const double *x, size_t n)
{
    size_t i = 0;
    while (x && i < n && x[i] == 0)
        i++;
    return !x || i == n;
}

int particles_found(const struct particles *p)
{
    return (all_zero(p->softening, p->n) ? 0 : PARTICLES_SOFTENING) |
           (all_zero(p->potential, p->n) ? 0 : PARTICLES_POTENTIAL) |
           (all_zero(p->radius, p->n) ? 0 : PARTICLES_RADIUS) |
           (particles_leave_box(p) ? PARTICLES_OUTSIDE : 0);
}

static void particles_array_drop(struct particles *p, double **array, enum particles_also also)
{
    free(*array);
    *array = NULL;
    p->also &= ~(int)also;
}

int particles_finish(struct particles *p, int found)
{
    if (!(found & PARTICLES_SOFTENING))
        particles_array_drop(p, &p->softening, PARTICLES_SOFTENING);
    if (!(found & PARTICLES_POTENTIAL))
        particles_array_drop(p, &p->potential, PARTICLES_POTENTIAL);
    if (!(found & PARTICLES_RADIUS))
        particles_array_drop(p, &p->radius, PARTICLES_RADIUS);
    return particles_check_box(p, found & PARTICLES_OUTSIDE);
}
