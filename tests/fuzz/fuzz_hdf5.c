/* fuzz_hdf5.c - arbitrary bytes as an HDF5 snapshot; for libFuzzer or for driver.c.
 *
 * The file is an image in memory (libhdf5's core driver), since libhdf5 opens no file without a
 * name. The signature is set right. The reader returns within its time limit, with bodies that
 * keep the promises of particles.h or with a message. What crashes is a defect of ours or of
 * libhdf5.
 * SPDX-License-Identifier: MIT
 */
#include "formats/particles.h"
#include "fuzz.h"
#include "stdcl.h"

#include <errno.h>
#include <math.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct particles p;
    char *exact = exact_copy(data, size);
    memcpy(exact, "\211HDF\r\n\032\n", size < 8 ? size : 8);
    const int status = particles_read_memory("name", exact, size, &p);
    free(exact);
    if (status < 0 && clerrno == ETIMEDOUT) { /* a thread of libhdf5 goes on: the end of this run */
        fputs("fuzz_hdf5: libhdf5 did not return, as the time limit reported\n", stderr);
        _exit(0);
    }
    if (status < 0) {
        promise_sentence(clerror(), "name");
        promise(p.n == 0 && !p.mass);
        return 0;
    }
    promise(p.n > 0 && isfinite(p.time));
    for (size_t i = 0; i < p.n; i++)
        promise(isfinite(p.mass[i]) && isfinite(p.pos[i][0]) && isfinite(p.vel[i][2]));
    particles_free(&p);
    return 0;
}
