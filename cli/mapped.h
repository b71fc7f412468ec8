/* mapped.h - an input file mapped into memory.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_CLI_MAPPED_H
#define STDCL_CLI_MAPPED_H

#include <stddef.h>

/* Map `size` bytes of an open file for reading; one file at a time. NULL with errno. After a
 * truncation of the file, or a failure of its disk, an access to the lost bytes ends the process
 * with CLI_FAILED and one sentence, which names `option` and `file`. */
char *cli_map(int fd, size_t size, const char *option, const char *file);
void cli_unmap(char *bytes, size_t size);

#endif
