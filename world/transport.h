/* transport.h - the transport between ranks: a table of functions, implemented for threads of one
 * process (threads.c) and for MPI (world_mpi.c, a plugin). It includes nothing of stdcl, so that a
 * plugin needs one source file and this header.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_WORLD_TRANSPORT_H
#define STDCL_WORLD_TRANSPORT_H

#include <stddef.h>
#include <stdint.h>

enum { TRANSPORT_ABI = 2 };

/* The transport's own handle of a transfer. */
struct transport_request {
    uint64_t handle[2];
};

/* int functions return 0, or -1 after writing the reason to why[TRANSPORT_WHY], as the second half
 * of a sentence. One thread at a time calls them. */
enum { TRANSPORT_WHY = 256, TRANSPORT_PIECE = 1 << 30 };

/* Written to `why` if another rank has called `end`, and this one still runs. */
#define TRANSPORT_ENDED "the job was ended"

struct transport {
    unsigned abi;      /* TRANSPORT_ABI */
    const char *names; /* "Open MPI" */
    /* Start MPI, or take the ranks of a communicator (a Fortran handle) if it is not -1; fill in
     * *state and the other outputs. */
    int (*join)(int communicator, void **state, int *rank, int *size, int *background,
                char *transport_name, char *why);
    /* Start to send or receive up to TRANSPORT_PIECE bytes. Transfers between two ranks with one
     * tag stay in order. */
    int (*send)(void *state, int rank, int tag, const void *bytes, size_t size,
                struct transport_request *r, char *why);
    int (*receive)(void *state, int rank, int tag, void *bytes, size_t size,
                   struct transport_request *r, char *why);
    /* Progress a transfer: 1 if complete, else 0. */
    int (*test)(void *state, struct transport_request *r, char *why);
    /* Cancel an incomplete transfer. 0: its buffer is free; 1: the transport may use the buffer
     * until `leave`. */
    int (*cancel)(void *state, struct transport_request *r);
    /* Collective; no transfer is in flight. */
    void (*leave)(void *state);
    /* Terminate all ranks at once. */
    void (*end)(void *state, int status);
};

#endif
