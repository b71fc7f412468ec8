/* blocks.h - the blocks of an array: the units of work of the fixed-order reduction, their
 * partition among devices, and sizes of element types. See fixed_reduce.h for the layout of a
 * block.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_ARRAYS_BLOCKS_H
#define STDCL_ARRAYS_BLOCKS_H

#include <stdbool.h>

#include "stdcl/arrays.h"

enum {
    BLOCK_LANES = 64,
    BLOCK_ROWS = 32,
    BLOCK_STRIPS = 16,
    BLOCK = BLOCK_LANES * BLOCK_ROWS * BLOCK_STRIPS
};

/* Blocks of n elements; the last one may be short. */
static inline uint64_t block_count(uint64_t n)
{
    return n / BLOCK + (n % BLOCK != 0);
}

/* First of `blocks` blocks that device `dev` of `ndev` has; for dev = ndev the end, `blocks`. */
static inline uint64_t device_first_block(uint64_t blocks, cl_uint dev, cl_uint ndev)
{
    return blocks / ndev * dev + blocks % ndev * dev / ndev;
}

/* Bytes of an element. */
static inline size_t type_bytes(enum arrays_type type)
{
    return type == ARRAYS_FLOAT || type == ARRAYS_INT ? 4 : 8;
}

#endif
