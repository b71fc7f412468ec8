/* backend.h - the functions of an engine.
 *
 * life.c does what all engines share: options, the generation counter, copying of rectangles. An
 * engine is a table of functions and a state of its own.
 *
 * Cells enter and leave an engine through rows in host memory, packed as in struct life_cells.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIFE_BACKEND_H
#define LIFE_BACKEND_H

#include "stdcl/life.h"

/* Flags of asynchronous commands: engines check what each call returns, and wait later. */
enum { UNWAITED = CL_EVENT_NOWAIT | CL_EVENT_CHECKED };

/* width x height squares of 2^zoom cells a side, covering a rectangle of across x down cells at
 * x, y. */
struct life_raster {
    size_t x, y, width, height, across, down;
    unsigned zoom;
};

struct life_backend {
    int (*create)(life *lf, const struct life_options *options);
    void (*free)(life *lf);
    /* The words of row y of the grid that this rank has; y must be one of the rank's rows. */
    uint64_t *(*row)(life *lf, size_t y);
    /* The same words of a bit plane (planes.cl); plane 0 is `row`. NULL: two states only. */
    uint64_t *(*plane)(life *lf, unsigned plane, size_t y);
    int (*upload)(life *lf);   /* from the host's rows to the engine */
    int (*download)(life *lf); /* from the engine to the host's rows */
    int (*step)(life *lf, uint64_t generations);
    /* Advance n times one generation and sample population and hash after each; n = 0: sample the
     * present generation once. */
    int (*trace)(life *lf, size_t n, struct life_sample *sample);
    /* life_get and life_density directly from the devices, in coordinates of the grid; NULL: from
     * the host's rows. */
    int (*window)(life *lf, size_t x, size_t y, struct life_cells *cells);
    int (*squares)(life *lf, const struct life_raster *q, uint32_t *count);
    unsigned (*devices)(const life *lf);                  /* NULL: none */
    const char *(*shape)(const life *lf, unsigned dev);   /* NULL: "" */
    const char *(*explain)(const life *lf, unsigned dev); /* NULL: "" */
};

extern const struct life_backend life_packed_backend, life_topology_backend, life_bitplanes_backend,
    life_bytes_backend, life_padded_backend, life_reference_backend;

#endif
