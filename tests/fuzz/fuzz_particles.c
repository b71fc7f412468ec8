/* fuzz_particles.c - arbitrary bytes for the readers of bodies; for libFuzzer or for driver.c.
 *
 * The reader stays inside its memory (AddressSanitizer) and returns. Either it fails with a
 * message that names the file and leaves no state, or it yields bodies that keep the promises of
 * particles.h. A file must give the same result as memory.
 * SPDX-License-Identifier: MIT
 */
#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* memfd_create */
#endif
#include "formats/particles.h"
#include "fuzz.h"
#include "stdcl.h"

#include <math.h>
#include <sys/mman.h>
#include <unistd.h>

static void check_fuzz_bodies(const struct particles *p)
{
    promise(p->n > 0 && isfinite(p->time));
    promise(p->gas <= p->n && p->star <= p->n - p->gas);
    promise(p->format && particles_formats());
    for (size_t i = 0; i < p->n; i++) {
        promise(isfinite(p->mass[i]) && p->mass[i] >= 0);
        for (int axis = 0; axis < 3; axis++)
            promise(isfinite(p->pos[i][axis]) && isfinite(p->vel[i][axis]));
    }
}

static void check_particles_failure(const char *name, const struct particles *p)
{
    promise_sentence(clerror(), name);
    promise(p->n == 0 && !p->mass && !p->pos && !p->vel);
}

/* Open a file without a name, in memory if possible, since a disk takes milliseconds. */
static int open_nameless(void)
{
#ifdef __linux__
    return memfd_create("fuzz", 0);
#else
    FILE *file = tmpfile();
    return file ? fileno(file) : -1;
#endif
}

/* Check the same bytes from a file. */
static void check_fuzz_file(const void *data, size_t size, int expected, const struct particles *p)
{
    static int fd = -1;
    char name[32];
    struct particles q;
    if (fd < 0)
        fd = open_nameless();
    promise(fd >= 0 && ftruncate(fd, 0) == 0);
    promise(pwrite(fd, data, size, 0) == (ssize_t)size && lseek(fd, 0, SEEK_SET) == 0);
    snprintf(name, sizeof name, "/dev/fd/%d", fd);
    promise(particles_read(name, &q) == expected);
    if (expected < 0) {
        check_particles_failure(name, &q);
        return;
    }
    promise(q.n == p->n && q.gas == p->gas && q.star == p->star && q.format == p->format);
    promise(memcmp(&q.time, &p->time, sizeof p->time) == 0);
    promise(memcmp(q.mass, p->mass, p->n * sizeof *p->mass) == 0);
    promise(memcmp(q.pos, p->pos, p->n * sizeof *p->pos) == 0);
    promise(memcmp(q.vel, p->vel, p->n * sizeof *p->vel) == 0);
    particles_free(&q);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct particles p;
    void *exact = exact_copy(data, size);
    int status = particles_read_memory("name", exact, size, &p);
    free(exact);
    promise(status == 0 || status == -1);
    if (status == 0)
        check_fuzz_bodies(&p);
    else
        check_particles_failure("name", &p);
    if (size < 8 || memcmp(data, "\211HDF\r\n\032\n", 8) != 0) /* fuzz_hdf5.c */
        check_fuzz_file(data, size, status, &p);
    particles_free(&p);
    return 0;
}
