/* memory.c - memory for the command: small pieces that must be there, and a look at large ones
 * beforehand.
 * SPDX-License-Identifier: MIT
 */
#include "cli.h"

#include <unistd.h>

_Noreturn void cli_no_memory(const char *what)
{
    cli_failed("not enough memory for %s", what);
    exit(CLI_FAILED);
}

static void *checked(void *memory, size_t count, size_t size)
{
    if (!memory) {
        cli_failed("not enough memory for %zu x %zu bytes", count, size);
        exit(CLI_FAILED);
    }
    return memory;
}

void *cli_alloc(size_t count, size_t size)
{
    return checked(calloc(count ? count : 1, size), count, size);
}

void *cli_realloc(void *old, size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count ? count : 1, size, &bytes))
        return checked(NULL, count, size);
    return checked(realloc(old, bytes), count, size);
}

int cli_memory_for(size_t count, size_t size, const char *what)
{
    const double need = (double)count * (double)size;
    const double have = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    struct cli_text a, b;
    if (have <= 0 || need <= have)
        return CLI_DONE;
    return cli_failed("%zu %s need %s of memory, and this machine has %s", count, what,
                      cli_text_bytes(&a, need), cli_text_bytes(&b, have));
}
