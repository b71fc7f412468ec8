/* body_blocks.c - parallel loop over blocks of bodies (body_blocks.h).
 * SPDX-License-Identifier: MIT
 */
#include "nbody/particles/body_blocks.h"

#include "core/parallel_for.h"

struct each {
    size_t n;
    void (*work)(void *arg, size_t block, size_t first, size_t end);
    void *arg;
};

size_t nbody_blocks(size_t n)
{
    return n / BLOCK_BODIES + (n % BLOCK_BODIES > 0);
}

static void work_on_block(void *each_, size_t block)
{
    const struct each *each = each_;
    const size_t first = block * BLOCK_BODIES, rest = each->n - first;
    each->work(each->arg, block, first, first + (rest < BLOCK_BODIES ? rest : BLOCK_BODIES));
}

void nbody_each_block(size_t n, void (*work)(void *arg, size_t block, size_t first, size_t end),
                      void *arg)
{
    struct each each = {n, work, arg};
    parallel_for(nbody_blocks(n), work_on_block, &each);
}
