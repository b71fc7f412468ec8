/* identify.h - internals of life_identify.
 *
 *   identify.c           recurrence, and the search in the populations
 *   identify_growth.c    linear and quadratic growth
 *   identify_objects.c   separate objects, and their names
 *   identify_clusters.c  groups of near cells, and their shapes
 *   identify_snapshot.c  a plane to return to
 *   identify_cells.c     the cells of a generation
 * SPDX-License-Identifier: MIT
 */
#ifndef LIFE_IDENTIFY_H
#define LIFE_IDENTIFY_H

#include "stdcl/identify.h"

#include <stdbool.h>

/* Cells that the functions below take from a plane; more are ERANGE. */
enum { IDENTIFY_MOST_CELLS = 1 << 20 };

/* A cell that is not dead. */
struct identify_cell {
    long long x, y;
    unsigned state;
};

/* The cells of a generation, row by row; the box around them, its ends included. */
struct identify_cells {
    struct identify_cell *cell;
    size_t n, room;
    long long left, top, right, bottom;
    long long width, height; /* sides of the torus that the cells are on; 0: none */
};

/* ---- identify_cells.c ---- */

/* Replace the cells by the cells of the plane. */
int identify_cells_take(life *lf, struct identify_cells *s);
void identify_cells_free(struct identify_cells *s);

/* True if the cells are equal up to a displacement. */
bool identify_cells_equal(const struct identify_cells *a, const struct identify_cells *b);

/* Count the places with equal cells; `keep`, which may be `a`, receives these cells. */
uint64_t identify_cells_common(const struct identify_cells *a, const struct identify_cells *b,
                               struct identify_cells *keep);

/* Count the places whose cells differ. */
uint64_t identify_cells_changed(const struct identify_cells *a, const struct identify_cells *b);

/* Return the number of the cells' symmetry group, larger for more symmetries; 0 also if out of
 * memory. The second function returns its name. */
size_t identify_cells_group(const struct identify_cells *s);
const char *identify_group_name(size_t group);

/* ---- identify_clusters.c ---- */

/* A group of cells, each near another one. Clusters of equal cells up to a displacement have equal
 * `shape`, others with probability 2^-64. On a torus, the parts of a cluster on both sides of an
 * edge are put together, unless it surrounds the torus. */
struct identify_cluster {
    const struct identify_cell *cell;
    size_t n;
    long long left, top, right, bottom; /* the box around it, its ends included */
    uint64_t shape;
    bool surrounds;
};

/* Clusters in ascending order of shape, then of place. */
struct identify_clusters {
    struct identify_cluster *cluster;
    size_t n;
    struct identify_cell *cell;
};

/* Join cells within `near` columns and rows of each other. Fails with ENOMEM. */
int identify_clusters_make(struct identify_clusters *c, const struct identify_cells *cells,
                           int near);
void identify_clusters_free(struct identify_clusters *c);

/* Return the number of clusters from number i on that have the shape of i. */
size_t identify_clusters_alike(const struct identify_clusters *c, size_t i);

/* ---- identify_snapshot.c ---- */

/* The squares of a plane. Zero-initialized: empty. */
struct identify_snapshot {
    struct snapshot_square *square;
    size_t n, room;
    bool multistate;
    uint64_t generation;
};
int identify_snapshot_take(life *lf, struct identify_snapshot *t);
int identify_snapshot_restore(life *lf, const struct identify_snapshot *t);
void identify_snapshot_free(struct identify_snapshot *t);

/* ---- identify_growth.c ---- */

/* The plane's population has grown regularly for some time, by `growth` cells in the last `period`
 * generations; `mean` is the mean over the phases of a period. Confirm the growth far ahead, and
 * set kind, period, displacement, growth and objects of *id. Return 1 if it goes on, with the plane
 * some periods later; else 0 with the plane as before. `now`: its cells. */
int identify_linear_growth(life *lf, const struct identify_cells *now, uint64_t period,
                           uint64_t growth, double mean, struct life_identity *id);

/* Look far ahead: 1 if the population grows with the square of time; *id has the plane's last
 * generation and its population. Else 0 with the plane as before; *end: the look has come to its
 * last generation, and another one is useless. */
int identify_quadratic_growth(life *lf, struct life_identity *id, bool *end);

/* ---- identify_objects.c ---- */

/* Recognizes objects, with names as in a census. */
struct identify_namer;

/* Open a namer for the plane's rule. *namer is NULL if the rule has no apgcodes: neither of two
 * states nor of Generations, or B0. Fails with ENOMEM. */
int identify_namer_open(life *lf, struct identify_namer **namer);
void identify_namer_close(struct identify_namer *namer);

/* True if a cluster is an object or several ones, which are then counted `times` times. */
bool identify_namer_see(struct identify_namer *namer, const struct identify_cluster *c,
                        uint64_t times);

/* Set objects and object of *id to those that have been counted. Fails with ENOMEM, also if memory
 * was short before. */
int identify_namer_list(struct identify_namer *namer, struct life_identity *id);

/* Free the objects and the code of *id, and reset it to an unsettled pattern. */
void identify_forget(struct life_identity *id);

/* Separate a pattern into objects, and set objects, object and code of *id. Leave 0 objects if the
 * rule has no apgcodes, or the cells cannot be separated. Fails with ENOMEM. */
int identify_objects(life *lf, const struct identify_cells *now, struct life_identity *id);

#endif
