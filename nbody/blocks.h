/* blocks.h - many bodies, block by block, by as many threads as there are processors.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_NBODY_BLOCKS_H
#define STDCL_NBODY_BLOCKS_H

#include <stddef.h>

enum { BODIES_OF_A_BLOCK = 1 << 16 };

/* Calls work(arg, block, first, end) for the bodies first .. end - 1 of every block of 0 .. n - 1,
 * each once, in any order and by several threads; returns when all are done. Blocks do not depend
 * on how many threads there are. */
void nbody_each_block(size_t n, void (*work)(void *arg, size_t block, size_t first, size_t end),
                      void *arg);

/* How many blocks n bodies are. */
size_t nbody_blocks(size_t n);

#endif
