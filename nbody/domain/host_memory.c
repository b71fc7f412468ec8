/* host_memory.c - memory that the ranks of a host share, for blocks that domains exchange: one rank
 * downloads the block from its device, and the other rank uploads it, without a copy between them.
 *
 * Each rank creates a file in memory (memfd_create). The other ranks of the host open it by its
 * process and descriptor, in /proc. Such a file has no name, and ends with the processes. It is
 * sparse: regions have fixed places, far apart, so that a block grows in its place and two ranks
 * map it without telling each other where it is. Region 0 holds the file's mark.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/domain/tree_domain.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static const size_t REGION_BYTES = (size_t)1 << 36, MOST_REGIONS = (size_t)1 << 26;

/* Create this rank's file. Its pages are allocated when they are first written. descriptor -1:
 * there is none, for instance because a limit on file sizes (`ulimit -f`) excludes the places of
 * regions. */
static struct host_file host_file_create(void)
{
    struct host_file f = {.process = getpid(), .descriptor = -1};
    struct rlimit most;
    if (getrlimit(RLIMIT_FSIZE, &most) == 0 && most.rlim_cur == RLIM_INFINITY &&
        getrandom(f.mark, sizeof f.mark, GRND_NONBLOCK) == (ssize_t)sizeof f.mark)
        f.descriptor = memfd_create("stdcl-domains", MFD_CLOEXEC);
    if (f.descriptor >= 0 &&
        (write(f.descriptor, f.mark, sizeof f.mark) != (ssize_t)sizeof f.mark ||
         ftruncate(f.descriptor, (off_t)(REGION_BYTES * MOST_REGIONS)) != 0)) {
        close(f.descriptor);
        f.descriptor = -1;
    }
    return f;
}

/* Return a descriptor of this process for another rank's file; -1: the rank belongs to another
 * user, or is in a container where its process has another number. */
static int host_file_open(const struct host_file *other)
{
    char path[64];
    uint64_t mark[2];
    struct stat s;
    snprintf(path, sizeof path, "/proc/%d/fd/%d", other->process, other->descriptor);
    if (other->descriptor < 0 || stat(path, &s) != 0 || !S_ISREG(s.st_mode))
        return -1;
    const int descriptor = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0 || (pread(descriptor, mark, sizeof mark, 0) == (ssize_t)sizeof mark &&
                           memcmp(mark, other->mark, sizeof mark) == 0))
        return descriptor;
    close(descriptor);
    return -1;
}

static bool is_on_this_host(const struct nbody *nb, int rank)
{
    return strcmp(world_host(nb->world, rank), world_host(nb->world, world_rank(nb->world))) == 0;
}

int nbody_host_memory_open(struct nbody *nb)
{
    struct domains *s = nb->domain.tree;
    const int ranks = world_size(nb->world), me = world_rank(nb->world);
    bool alone = true;
    for (int r = 0; r < ranks; r++)
        alone &= r == me || !is_on_this_host(nb, r);
    const struct host_file own = alone ? (struct host_file){.descriptor = -1} : host_file_create();
    cl_uint failed = !alone && own.descriptor < 0;
    if (ranks > 1 && world_gather(nb->world, &own, sizeof own, s->file) != 0)
        failed = 1;
    for (int r = 0; r < ranks; r++) {
        const bool same = !failed && !alone && is_on_this_host(nb, r);
        s->file[r].descriptor = r == me ? own.descriptor : same ? host_file_open(&s->file[r]) : -1;
        failed |= same && s->file[r].descriptor < 0;
    }
    const int status = nbody_ranks_reduce_or(nb, &failed, 1);
    if (status != 0 || failed)
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

bool nbody_host_memory_shared(const struct nbody *nb, int rank)
{
    return nb->domain.tree->file[rank].descriptor >= 0;
}

/* ---- Blocks. --------------------------------------------------------------------------------- */

/* Map a region of a rank's file; NULL: an error. */
static void *region_map(int file, size_t region, size_t bytes)
{
    void *memory = region < MOST_REGIONS && bytes <= REGION_BYTES
                       ? mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file,
                              (off_t)(region * REGION_BYTES))
                       : MAP_FAILED;
    if (memory != MAP_FAILED)
        return memory;
    clerror_set(ENOMEM, "nbody: no %zu bytes of memory that ranks of a host share", bytes);
    return NULL;
}

/* Make mapped memory a block. Nothing in it is worth a copy to a device. */
static void *region_block(const struct nbody *nb, void *memory, size_t bytes)
{
    void *block = memory ? clmalloc_from(nb->ctx, memory, bytes, CL_MEM_ZEROCOPY) : NULL;
    EACH_TREE(nb, p)
    if (block && !clgetbuffer(nb->ctx, p->dev, block)) {
        clfree(block);
        block = NULL;
    }
    if (block)
        clmctl(block, CL_MCTL_MARK_CLEAN);
    return block;
}

void *nbody_host_memory_alloc(const struct nbody *nb, int rank, size_t region, size_t bytes)
{
    if (bytes < TREE_LEAST_BLOCK)
        bytes = TREE_LEAST_BLOCK;
    if (rank < 0)
        return clmalloc(nb->ctx, bytes, CL_MEM_ZEROCOPY);
    void *memory = region_map(nb->domain.tree->file[rank].descriptor, region, bytes);
    void *block = region_block(nb, memory, bytes);
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
