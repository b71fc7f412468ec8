/* A program with kernels embedded by `stdcl embed`: both files are found by clopen(cp, NULL,
 * ...) and, by name, by clexec. CMakeLists.txt links the objects, joined and in an archive. This
 * test registers binaries: an intact binary is used on the device that it names.
 * SPDX-License-Identifier: MIT
 */
#include "core/core.h"

#include "check.h"
#include "files.h"

enum { N = 1000 };

static void embed_linked_kernels_run(void **state)
{
    CLCONTEXT *cp = stddev;
    (void)state;
    if (!cp) {
        print_message("no OpenCL device\n");
        skip();
    }
    void *program = clopen(cp, NULL, CLLD_NOW);
    ready(program);
    cl_kernel add = clsym(cp, program, "cli_add", 0), scale = clsym(cp, program, "cli_scale", 0);
    ready(add);
    ready(scale);
    int *x = clmalloc(cp, N * sizeof *x, 0);
    ready(x);
    for (int i = 0; i < N; i++)
        x[i] = i;
    clndrange_t ndr = clndrange_init1d(0, N, 0);
    started(clmsync(cp, 0, x, CL_MEM_DEVICE | CL_EVENT_NOWAIT));
    started(clforka(cp, 0, add, &ndr, CL_EVENT_NOWAIT, x, 7));
    started(clforka(cp, 0, scale, &ndr, CL_EVENT_NOWAIT, x, 3));
    started(clmsync(cp, 0, x, CL_MEM_HOST | CL_EVENT_NOWAIT));
    done(clwait(cp, 0, CL_ALL_EVENT));
    for (int i = 0; i < N; i++)
        assert_int_equal(x[i], 3 * (i + 7));
    done(clexecb(cp, 0, &ndr, cli_add, x, 1));
    done(clmsync(cp, 0, x, CL_MEM_HOST));
    assert_int_equal(x[5], 37);
    works(clfree(x));
    works(clclose(cp, program));
}

/* ---- Binaries. ------------------------------------------------------------------------------- */

/* Return the output of the kernel "which" of the embedded programs. */
static int answer_of_embedded(CLCONTEXT *cp)
{
    void *program = clopen(cp, NULL, CLLD_NOW);
    ready(program);
    cl_kernel krn = clsym(cp, program, "which", 0);
    ready(krn);
    int *x = clmalloc(cp, sizeof *x, 0);
    ready(x);
    clndrange_t ndr = clndrange_init1d(0, 1, 1);
    done(clforka(cp, 0, krn, &ndr, CL_EVENT_WAIT, x));
    done(clmsync(cp, 0, x, CL_MEM_HOST));
    const int value = *x;
    works(clfree(x));
    works(clclose(cp, program));
    return value;
}

static unsigned char *binary_of_two(CLCONTEXT *cp, size_t *size)
{
    const char *const file = in_folder("binary");
    void *program = clsopen(cp, "kernel void which(global int *x) { *x = 2; }", CLLD_NOW);
    ready(program);
    works(clsave(cp, program, 0, file));
    works(clclose(cp, program));
    return (unsigned char *)read_file(file, size, "test");
}

/* The source returns 1 and the binary 2, which shows which of them ran. */
static void embed_binary_serves_its_device(void **state)
{
    static const char text[] = "kernel void which(global int *x) { *x = 1; }";
    static char device[EMBEDDED_IDENTITY];
    static struct stdcl_embedded source = {"which.cl", (const unsigned char *)text, sizeof text - 1,
                                           NULL};
    static struct stdcl_embedded_binary binary = {.source = &source, .device = device};
    (void)state;
    if (!stddev) {
        print_message("no OpenCL device\n");
        skip();
    }
    const cl_device_id id = clgetdevice(stddev, 0);
    CLCONTEXT *cp = clcontext_create_from(&id, 1);
    ready(cp);
    unsigned char *data = binary_of_two(cp, &binary.size);
    binary.data = data;
    stdcl_embed_register(&source);
    assert_int_equal(answer_of_embedded(cp), 1);
    stdcl_embed_register_binary(&binary);
    assert_int_equal(answer_of_embedded(cp), 1);
    device_identity(clgetdevice(cp, 0), device, sizeof device);
    assert_int_equal(answer_of_embedded(cp), 2);
    memset(data, 0, binary.size);
    check_forget();
    assert_int_equal(answer_of_embedded(cp), 1);
    assert_null(clerror());
    works(clcontext_destroy(cp));
    free(data);
}

int main(void)
{
    setenv("STDCL_DEVICE_BUILDS", "0",
           1); /* programs of their own text are compiled, with any embedded programs */
    const struct CMUnitTest tests[] = {cmocka_unit_test(embed_linked_kernels_run),
                                       cmocka_unit_test(embed_binary_serves_its_device)};
    return cmocka_run_group_tests(tests, files_create, files_remove);
}
