/* transport.h - what carries bytes between ranks: a table of functions, filled by threads of one
 * process (threads.c) or by MPI (world_mpi.c, a plugin). It includes nothing of stdcl, so that a
 * plugin is built of one file and this header.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_WORLD_TRANSPORT_H
#define STDCL_WORLD_TRANSPORT_H

#include <stddef.h>
#include <stdint.h>

enum { TRANSPORT_ABI = 2 };

/* What a transport keeps of a transfer: a handle of its own. */
struct transport_request {
    uint64_t handle[2];
};

/* Functions that return int return 0, or -1 after writing half a sentence to why[TRANSPORT_WHY].
 * They are called by one thread at a time. */
enum { TRANSPORT_WHY = 256, TRANSPORT_PIECE = 1 << 30 };

struct transport {
    unsigned abi;      /* TRANSPORT_ABI */
    const char *names; /* "Open MPI" */
    /* Starts, or takes the ranks of a communicator (a Fortran handle) if it is not -1; fills in
     * *state and the rest. */
    int (*join)(int communicator, void **state, int *rank, int *size, int *background,
                char *carrier, char *why);
    /* Start to send or receive up to TRANSPORT_PIECE bytes; in order between two ranks and for one
     * tag. */
    int (*send)(void *state, int rank, int tag, const void *bytes, size_t size,
                struct transport_request *r, char *why);
    int (*receive)(void *state, int rank, int tag, void *bytes, size_t size,
                   struct transport_request *r, char *why);
    /* Moves what can be moved: 1 when done, 0 when not yet. */
    int (*test)(void *state, struct transport_request *r, char *why);
    /* Gives up a transfer that is not done. 0: its bytes are not touched any more; 1: they may be,
     * until all is left. */
    int (*cancel)(void *state, struct transport_request *r);
    /* All ranks have called it, and nothing is under way. */
    void (*leave)(void *state);
    /* Ends all ranks at once. */
    void (*end)(void *state, int status);
};

#endif
