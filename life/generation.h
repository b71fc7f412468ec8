/* generation.h - generations of engines that step the rows of a whole grid on the context's first
 * device (generation.c).
 * SPDX-License-Identifier: MIT
 */
#ifndef LIFE_GENERATION_H
#define LIFE_GENERATION_H

#include "core/pace.h"
#include "stdcl/life.h"

/* Enqueue one generation in slices of rows. `start` launches rows y ... y + rows - 1, y a multiple
 * of `group`. The result is valid once all slices are done. */
int life_rows_generation(life *lf, struct pace *pace, size_t group,
                         int (*start)(life *lf, size_t y, size_t rows));

/* Enqueue generations, each by `generation`. */
int life_rows_advance(life *lf, struct pace *pace, uint64_t generations,
                      int (*generation)(life *lf));

/* Block until all enqueued generations are done. */
int life_rows_wait(life *lf, struct pace *pace);

#endif
