/* held.h - what our own code holds: bytes of the heap, and events of OpenCL that it has not
 * released.
 *
 * How large a process is depends on the driver, the allocator and the machine; what the test
 * program and the libraries linked into it hold does not. The linker puts held.c between them and
 * the calls that it counts (`held` in CMakeLists.txt); a driver's own calls, and
 * libc's, are not seen.
 * SPDX-License-Identifier: MIT
 */
#ifndef HELD_H
#define HELD_H

#include <stdcl.h>

/* Bytes allocated and not freed, since the start of the process. */
long held_bytes(void);

/* References to events that were made or retained and not released: to all events, and to one. */
long held_events(void);
long held_references(cl_event ev);

#endif /* HELD_H */
