/* host_memory.c - memory that ranks of one host share, for blocks of pairs of domains: what one
 * rank downloads from its device, the other rank uploads, without a message that copies it.
 *
 * Each rank creates a file in memory (memfd_create). The other ranks of the host open it by its
 * process and descriptor, in /proc. Such a file has no name, and ends with the processes. A region
 * has a fixed place in the file, and regions are far apart, because the file is sparse: a block
 * grows in its place, and two ranks map it without telling each other where it is.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/domain/tree_domain.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <unistd.h>

static const size_t REGION_BYTES = (size_t)1 << 36;
enum { MOST_REGIONS = 1 << 26 }; /* of a file */

/* Create this rank's file, which begins with a random mark. descriptor -1: there is none. The place
 * of a region would exceed a limit on the size of files (`ulimit -f`). */
static struct host_file host_file_create(void)
{
    struct host_file f = {.process = getpid(), .descriptor = -1};
    struct rlimit most;
    if (getrlimit(RLIMIT_FSIZE, &most) == 0 && most.rlim_cur == RLIM_INFINITY &&
        getrandom(f.mark, sizeof f.mark, GRND_NONBLOCK) == (ssize_t)sizeof f.mark)
        f.descriptor = memfd_create("stdcl-domains", MFD_CLOEXEC);
    if (f.descriptor >= 0 && write(f.descriptor, f.mark, sizeof f.mark) != (ssize_t)sizeof f.mark) {
        close(f.descriptor);
        f.descriptor = -1;
    }
    return f;
}

/* Return a descriptor of this process for another rank's file; -1 if the rank is in a container
 * with processes of its own, or of another user. */
static int host_file_open(const struct host_file *other)
{
    char path[64];
    uint64_t mark[2];
    snprintf(path, sizeof path, "/proc/%d/fd/%d", other->process, other->descriptor);
    const int descriptor = other->descriptor < 0 ? -1 : open(path, O_RDWR | O_CLOEXEC);
    if (descriptor < 0 || (pread(descriptor, mark, sizeof mark, 0) == (ssize_t)sizeof mark &&
                           memcmp(mark, other->mark, sizeof mark) == 0))
        return descriptor;
    close(descriptor);
    return -1;
}

int nbody_host_memory_open(struct nbody *nb)
{
    struct domains *s = nb->domain.tree;
    const int ranks = world_size(nb->world), me = world_rank(nb->world);
    const char *const host = world_host(nb->world, me);
    const struct host_file own = host_file_create();
    cl_uint failed = own.descriptor < 0;
    bool alone = true;
    if (ranks > 1 && world_gather(nb->world, &own, sizeof own, s->file) != 0)
        failed = 1;
    for (int r = 0; r < ranks; r++) {
        const bool near = r != me && strcmp(world_host(nb->world, r), host) == 0;
        s->file[r].descriptor = r == me ? own.descriptor : near ? host_file_open(&s->file[r]) : -1;
        failed |= near && s->file[r].descriptor < 0;
        alone &= !near;
    }
    const int status = nbody_ranks_reduce_or(nb, &failed, 1);
    if (status != 0 || failed || alone)
        nbody_host_memory_close(nb);
    return status;
}

void nbody_host_memory_close(struct nbody *nb)
{
    struct domains *s = nb->domain.tree;
    for (int r = 0; s->file && r < world_size(nb->world); r++) {
        if (s->file[r].descriptor >= 0)
            close(s->file[r].descriptor);
        s->file[r].descriptor = -1;
    }
}

bool nbody_host_memory_near(const struct nbody *nb, int rank)
{
    return nb->domain.tree->file[rank].descriptor >= 0;
}

/* ---- Blocks. --------------------------------------------------------------------------------- */

/* Map a region of a rank's file; NULL: out of memory. */
static void *region_map(int file, size_t region, size_t bytes)
{
    const off_t at = (off_t)(region * REGION_BYTES);
    if (region >= MOST_REGIONS || bytes > REGION_BYTES || fallocate(file, 0, at, (off_t)bytes) != 0)
        return NULL;
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, at);
    return memory == MAP_FAILED ? NULL : memory;
}

void *nbody_host_memory_alloc(const struct nbody *nb, int rank, size_t region, size_t bytes)
{
    if (rank < 0)
        return clmalloc(nb->ctx, bytes, CL_MEM_ZEROCOPY);
    void *memory = region_map(nb->domain.tree->file[rank].descriptor, region, bytes);
    void *block = memory ? clmalloc_from(nb->ctx, memory, bytes, CL_MEM_ZEROCOPY) : NULL;
    if (memory && !block)
        munmap(memory, bytes);
    return block;
}

void nbody_host_memory_free(int rank, void *block)
{
    const size_t bytes = block ? clsizeofmem(block) : 0;
    if (clfree(block) == 0 && block && rank >= 0)
        munmap(block, bytes);
}
