/* alloc.c - small allocations that exit on failure, and a check of large ones against the memory
 * that may be used.
 * SPDX-License-Identifier: MIT
 */
#include "command.h"
#include "alloc.h"
#include "message.h"
#include "text.h"

#include "core/host_memory.h"

#include <math.h>
#include <stdcl.h>
#include <stddef.h>
#include <stdlib.h>

_Noreturn void cli_out_of_memory(const char *what)
{
    cli_failed("not enough memory for %s", what);
    exit(CLI_FAILED);
}

static void *exit_unless_allocated(void *memory, size_t count, size_t size)
{
    if (!memory) {
        cli_failed("out of memory: cannot allocate %zu x %zu bytes", count, size);
        exit(CLI_FAILED);
    }
    return memory;
}

void *cli_alloc(size_t count, size_t size)
{
    return exit_unless_allocated(calloc(count ? count : 1, size), count, size);
}

void *cli_realloc(void *old, size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count ? count : 1, size, &bytes))
        return exit_unless_allocated(NULL, count, size);
    return exit_unless_allocated(realloc(old, bytes), count, size);
}

/* Elements of `size` bytes, `count` on each of `ranks` ranks, in `have` bytes. */
static int need_memory(double ranks, size_t count, size_t size, const char *what, double have)
{
    struct cli_text a, b;
    const double need = ranks * (double)count * (double)size;
    if (need <= have)
        return CLI_DONE;
    return cli_failed("%zu %s need %s of memory, of which %s may be used; %.0f fit", count, what,
                      cli_text_bytes(&a, need), cli_text_bytes(&b, have),
                      floor(have / ranks / (double)size));
}

int cli_memory_for(size_t count, size_t size, const char *what)
{
    return need_memory(1, count, size, what, host_memory_left());
}

int cli_memory_for_ranks(int ranks, size_t count, size_t size, const char *what)
{
    char each[80];
    snprintf(each, sizeof each, ranks > 1 ? "%s on each of %d ranks of this host" : "%s", what,
             ranks);
    const int status = need_memory(1, count, size, each, host_memory_left());
    return status == CLI_DONE ? need_memory(ranks, count, size, each, host_memory_resident())
                              : status;
}
