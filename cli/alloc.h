/* alloc.h - host memory of the command.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_CLI_ALLOC_H
#define STDCL_CLI_ALLOC_H

#include <stddef.h>

/* calloc and realloc of count * size bytes for small data. On failure print a message with the
 * requested size and exit with CLI_FAILED. Check data of the user's size with cli_memory_for
 * first. */
void *cli_alloc(size_t count, size_t size);
void *cli_realloc(void *old, size_t count, size_t size);

/* Report that an allocation for `what` failed, and exit with CLI_FAILED. */
_Noreturn void cli_out_of_memory(const char *what);

/* CLI_DONE if count * size bytes fit the memory that may be used; otherwise print a message with
 * `count`, `what` and the size, and return CLI_FAILED. Call it before allocating: an overcommitting
 * system grants more memory than it has. */
int cli_memory_for(size_t count, size_t size, const char *what);

/* As cli_memory_for, for `ranks` ranks of this host that allocate `count` elements each. */
int cli_memory_for_ranks(int ranks, size_t count, size_t size, const char *what);

#endif
