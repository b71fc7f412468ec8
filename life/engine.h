/* engine.h - struct life, which every engine sees.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIFE_ENGINE_H
#define LIFE_ENGINE_H

#include "life/backend.h"
#include "life/grid.h"

#include <stdbool.h>

enum { LIFE_LONGEST_PERIOD = 64 };

struct life {
    const struct life_backend *backend;
    void *state; /* the backend's */
    enum life_engine engine;
    char choice[LIFE_CHOICE]; /* reason for the engine */
    size_t width, height;     /* 0 on an unbounded plane */
    size_t words;             /* 64-cell words of a packed row, rounded up */
    stdcl_world *world;
    size_t first, rows; /* this rank's rows of the grid */
    size_t from, own;   /* this rank's words of these rows; all unless ranks have blocks */
    double weight;      /* this rank's speed for load balancing; 0: by its devices */
    char *shape;        /* the caller's shape; NULL: none */
    enum life_bounds bounds;
    struct life_grid grid; /* size, bounds and topology */
    struct life_family rule;
    uint64_t generation;
    bool host_stale;   /* the engine has stepped since the last download */
    bool device_stale; /* the host's rows have been written since the last upload */
    CLCONTEXT *ctx;    /* NULL for the reference */
    uint64_t launches;
    int (*progress)(void *arg, double fraction);
    void *arg;
    struct {
        double total, done; /* generations of the running call */
    } call;
    size_t device_bytes;
    struct {
        uint64_t n, at; /* `n` states are known, the last at generation `at`; writing cells sets n
                           to 0 */
        struct life_sample *ring; /* generation g at g % (LIFE_LONGEST_PERIOD + 1); NULL before
                                     life_until_stable */
    } past;
};

/* Download the cells to the host's rows, or upload them, if they are stale (life.c). */
int life_to_host(life *lf);
int life_to_device(life *lf);

/* Begin a call of `total` generations (call.c). Then report progress: call.done generations and
 * `part` of those in flight. Return -1 with ECANCELED if the caller cancels. */
void life_call_begin(life *lf, double total);
int life_call_tell(life *lf, double part);

/* Advance some generations and compare windows in the corners, at the edges and inside with the
 * scalar reference (verify.c); a small grid is compared whole. Fails with EDOM if they differ. */
int life_verify(life *lf);

/* Generation of the cells within a call that advances them. */
static inline uint64_t life_now(const life *lf)
{
    return lf->generation + (uint64_t)lf->call.done;
}

static inline struct life_number life_number_of(long long value)
{
    return (struct life_number){(uint64_t)value, value < 0 ? -1 : 0};
}

/* Bit planes that the states of the rule need. */
enum { LIFE_PLANES_MAX = 9 };
static inline unsigned life_planes_of(const life *lf)
{
    unsigned planes = 1;
    for (unsigned most = lf->rule.states - 2; most; most >>= 1)
        planes++;
    return planes;
}

/* Row y of a bit plane in host memory. */
static inline uint64_t *life_plane_row(life *lf, unsigned plane, size_t y)
{
    return plane ? lf->backend->plane(lf, plane, y) : lf->backend->row(lf, y);
}

/* True if this rank has only a part of each of its rows. */
static inline bool life_in_blocks(const life *lf)
{
    return lf->own < lf->words;
}

/* True if row y of the grid is one of this rank's. */
static inline bool life_has_row(const life *lf, size_t y)
{
    return y >= lf->first && y - lf->first < lf->rows;
}

#endif
