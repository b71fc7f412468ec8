/* identify.h - internals of life_identify.
 *
 *   identify.c           recurrence, and the search in the populations
 *   identify_growth.c    linear and quadratic growth
 *   identify_objects.c   separate objects, and their names
 *   identify_clusters.c  groups of near cells, and their shapes
 *   identify_pairs.c     clusters that come near each other
 *   identify_separate.c  groups of cells that never influence each other
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

/* Measure the box around the cells. */
void identify_cells_measure(struct identify_cells *s);

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

/* Displacement after `period` generations; 0 for still lifes and oscillators. Period 0: unknown. */
struct identify_motion {
    uint64_t period;
    long long dx, dy;
};

/* A group of cells. Clusters of equal cells up to a displacement have equal `shape`, others with
 * probability 2^-64. On a torus, the parts of a cluster on both sides of an edge are put together,
 * unless it surrounds the torus. */
struct identify_cluster {
    const struct identify_cell *cell;
    size_t n;
    long long left, top, right, bottom; /* the box around it, its ends included */
    uint64_t shape;
    bool surrounds;
    struct identify_motion motion;
};

/* Clusters in ascending order of shape, then of place. */
struct identify_clusters {
    struct identify_cluster *cluster;
    size_t n;
    struct identify_cell *cell;
};

/* Union and find: parent[i] is a member of i's set before i, or i itself. Return the first member
 * of i's set. */
static inline size_t identify_root(size_t *parent, size_t i)
{
    while (parent[i] != i)
        i = parent[i] = parent[parent[i]];
    return i;
}

/* Join cells within `near` columns and rows of each other into sets; parent[i] becomes the first
 * cell of cell i's set. */
void identify_join_near(const struct identify_cells *s, size_t *parent, int near);

/* Make clusters of cells within `near` columns and rows of each other. Fails with ENOMEM. */
int identify_clusters_make(struct identify_clusters *c, const struct identify_cells *cells,
                           int near);
/* Make clusters of sets, in the order of their first cells; parent[i] is the first cell of cell i's
 * set. Fails with ENOMEM. The second function sorts them. */
int identify_clusters_fill(struct identify_clusters *c, const struct identify_cells *cells,
                           const size_t *parent, int near);
void identify_clusters_sort(struct identify_clusters *c);
void identify_clusters_free(struct identify_clusters *c);

/* Return the number of clusters from number i on that have the shape of i. */
size_t identify_clusters_alike(const struct identify_clusters *c, size_t i);

bool identify_moves_equally(const struct identify_motion *a, const struct identify_motion *b);
/* Least common multiple; 0 if it is 2^63 or more, or a number is 0. */
uint64_t identify_common_multiple(uint64_t a, uint64_t b);

/* How the boxes of two clusters with known motions come within `near` columns and rows of each
 * other, now or later: never; always, since they move equally; or some time. */
enum identify_meeting { IDENTIFY_APART, IDENTIFY_BESIDE, IDENTIFY_MEET };
enum identify_meeting identify_clusters_meet(const struct identify_cluster *a,
                                             const struct identify_cluster *b, int near);

/* ---- identify_pairs.c ---- */

/* Take account of two clusters, by their numbers; false: see no more pairs. */
typedef bool identify_pair(void *arg, size_t a, size_t b, enum identify_meeting meeting);

/* Call `see` for each pair of n clusters with known motions that come within `near` columns and
 * rows of each other, now or later, unless both stand. Return 1, or 0 if `see` was false. Time is
 * about proportional to n log n if there are few pairs. Fails with ENOMEM. */
int identify_pairs_see(const struct identify_cluster *c, size_t n, int near, identify_pair *see,
                       void *arg);

/* ---- identify_separate.c ---- */

/* A separation into objects. */
struct identify_parts {
    uint64_t work;     /* in cells that are computed: the limit, then the number */
    uint64_t after;    /* generations after which the objects are separate */
    uint64_t cells;    /* population then */
    uint64_t together; /* least common multiple of the objects' periods if all of them move equally;
                          0: they do not, or it is 2^63 or more */
    bool near;         /* in: first try each group of near cells as an object; out: it succeeded */
};

/* Separate cells into clusters that recur, with their motions, and that never influence each other.
 * Set `after` and `work`; the limit is higher if nearly all cells are of groups that have recurred.
 * Return 1, or 0 if there are no such clusters, or if finding them takes more work. The rule has
 * two states on the eight neighbours, without B0. Fails with ENOMEM, or with ECANCELED if the
 * plane's progress function cancels. */
int identify_separate(life *lf, const struct identify_cells *cells, struct identify_parts *parts,
                      struct identify_clusters *clusters);

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
 * last generation, and another one is useless. HashLife computes about `results` of nodes, more
 * while the growth is more than linear. */
int identify_quadratic_growth(life *lf, uint64_t results, struct life_identity *id, bool *end);

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
 * rule has no apgcodes, or the cells cannot be separated with parts->work. Set *parts. Fails with
 * ENOMEM or ECANCELED. */
int identify_objects(life *lf, const struct identify_cells *now, struct identify_parts *parts,
                     struct life_identity *id);

#endif
