/* body_blocks.h - parallel loop over blocks of bodies.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_NBODY_BODY_BLOCKS_H
#define STDCL_NBODY_BODY_BLOCKS_H

#include <stddef.h>

enum { BLOCK_BODIES = 1 << 16 };

/* Call work(arg, block, first, end) once for each block, with the bodies first .. end - 1, from
 * several threads and in any order; return after the last. Blocks depend on n only, not on the
 * number of threads. */
void nbody_each_block(size_t n, void (*work)(void *arg, size_t block, size_t first, size_t end),
                      void *arg);

/* Number of blocks of n bodies. */
size_t nbody_blocks(size_t n);

#endif
