/* particles_parts.h - a file of bodies read in parts has the bodies of the file read whole.
 * SPDX-License-Identifier: MIT
 */
#ifndef PARTICLES_PARTS_H
#define PARTICLES_PARTS_H

#include "check.h"

#include "formats/particles.h"

#include <string.h>

static inline void same_column(const void *part, const void *whole, size_t first, size_t n,
                               size_t size)
{
    assert_true(!part == !whole);
    if (part)
        assert_memory_equal(part, (const char *)whole + first * size, n * size);
}

/* Compare a finished part with the file read whole. */
static inline void same_part(const struct particles *p, const struct particles *whole)
{
    const size_t first = p->first, n = p->n;
    assert_int_equal(p->all, whole->n);
    assert_true(p->time == whole->time && p->gas == whole->gas && p->star == whole->star);
    assert_int_equal(p->also, whole->also);
    assert_string_equal(p->format, whole->format);
    assert_true(!p->space == !whole->space);
    for (int k = 0; k < PARTICLES_NOTE_COUNT; k++)
        assert_true(p->note[k] ? whole->note[k] && strcmp(p->note[k], whole->note[k]) == 0
                               : !whole->note[k]);
    same_column(p->mass, whole->mass, first, n, sizeof *p->mass);
    same_column(p->pos, whole->pos, first, n, sizeof *p->pos);
    same_column(p->vel, whole->vel, first, n, sizeof *p->vel);
    same_column(p->softening, whole->softening, first, n, sizeof *p->softening);
    same_column(p->potential, whole->potential, first, n, sizeof *p->potential);
    same_column(p->id, whole->id, first, n, sizeof *p->id);
    same_column(p->radius, whole->radius, first, n, sizeof *p->radius);
}

/* Read a file whole, and in 1 to 5 parts, as ranks do. */
static inline void check_parts(const char *file)
{
    struct particles whole, part[5];
    works(particles_read(file, &whole));
    for (size_t parts = 1; parts <= 5 && parts <= whole.n; parts++) {
        int found = 0;
        size_t next = 0;
        for (size_t k = 0; k < parts; k++) {
            works(particles_read_part(file, k, parts, &part[k]));
            found |= particles_found(&part[k]);
        }
        for (size_t k = 0; k < parts; k++) {
            works(particles_finish(&part[k], found));
            assert_int_equal(part[k].first, next);
            same_part(&part[k], &whole);
            next += part[k].n;
            particles_free(&part[k]);
        }
        assert_int_equal(next, whole.n);
    }
    particles_free(&whole);
}

#endif
