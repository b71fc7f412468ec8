/* fuzz_npy.c - any bytes at all, given to the reader of .npy files; for libFuzzer or for driver.c.
 *
 * Whatever the bytes: the reader keeps inside its memory (AddressSanitizer), returns, and either
 * fails with a sentence that names the file and leaves nothing open, or has a matrix whose numbers
 * can be read as far as there are any. A header that promises more than memory holds must not make
 * anybody allocate it: the harness only reads matrices that are small.
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
