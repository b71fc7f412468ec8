/* leak_count.h - heap bytes and event references held by our own code.
 *
 * The size of a process depends on the driver, the allocator and the machine. Memory held by the
 * test program and the libraries linked into it does not. The linker puts leak_count.c between
 * them and the counted calls (`leak_count` in CMakeLists.txt). Calls by a driver or by libc are
 * not counted.
 * SPDX-License-Identifier: MIT
 */
#ifndef LEAK_COUNT_H
#define LEAK_COUNT_H

#include <stdcl.h>

/* Return the bytes allocated and not freed since the start of the process. */
long leak_count_bytes(void);

/* Return the bytes of the largest block allocated since the previous call. */
long leak_count_largest(void);

/* Return the number of references to events created or retained and not released, over all
 * events, and for one. */
long leak_count_events(void);
long leak_count_references(cl_event ev);

#endif /* LEAK_COUNT_H */
