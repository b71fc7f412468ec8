/* fuzz_npy.c - arbitrary bytes for the reader of .npy files; for libFuzzer or for driver.c.
 *
 * The reader stays inside its memory (AddressSanitizer) and returns. Either it fails with a
 * message that names the file and leaves no open file, or it has a matrix whose numbers can be
 * read up to their end. A header that announces more than memory holds must cause no allocation:
 * the harness reads small matrices only.
 * SPDX-License-Identifier: MIT
 */
#include "formats/npy.h"
#include "fuzz.h"
#include "stdcl.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct npy in;
    void *exact = exact_copy(data, size);
    FILE *fp = size ? fmemopen(exact, size, "rb") : fopen("/dev/null", "rb");
    promise(fp);
    if (npy_open_stream(&in, fp, "name") != 0) {
        promise_sentence(clerror(), "name: ");
        promise(!in.fp && in.rows == 0);
        free(exact);
        return 0;
    }
    promise(in.size == 4 || in.size == 8);
    promise(!in.cols || in.rows <= SIZE_MAX / in.size / in.cols);
    if (npy_bytes(&in) <= 1 << 16) {
        void *x = malloc(npy_bytes(&in) + 1);
        promise(x);
        if (npy_read(&in, x) != 0) {
            promise_sentence(clerror(), "name: ");
            promise(npy_bytes(&in) > 0);
        }
        free(x);
    }
    npy_close(&in);
    free(exact);
    return 0;
}
