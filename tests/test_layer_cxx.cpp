/* test_layer_cxx.cpp - the layer from C++11, where every macro of <stdcl.h> has another
 * definition.
 * SPDX-License-Identifier: MIT
 */
#include <stdcl.h>

#include <vector>

namespace
{

int failures;

#define CHECK(what)                                                                                \
    do {                                                                                           \
        if (!(what)) {                                                                             \
            const char *sentence = clerror();                                                      \
            fprintf(stderr, "line %d: %s; clerror: %s\n", __LINE__, #what,                         \
                    sentence ? sentence : "NULL");                                                 \
            failures++;                                                                            \
        }                                                                                          \
    } while (0)

const cl_event no_event = reinterpret_cast<cl_event>(static_cast<intptr_t>(-1));

const char source[] =
    "struct pair { int i; float f; };\n"
    "__kernel void values(char c, short s, int i, ulong l, float f, float4 v, struct pair p,\n"
    "                     __global float *out)\n"
    "{ out[0] = c; out[1] = s; out[2] = i; out[3] = l; out[4] = f; vstore4(v, 0, out + 5);\n"
    "  out[9] = p.i; out[10] = p.f; }\n"
    "__kernel void reverse(__global int *x, __local int *tile)\n"
    "{ size_t i = get_local_id(0), n = get_local_size(0); tile[i] = x[i];\n"
    "  barrier(CLK_LOCAL_MEM_FENCE); x[i] = tile[n - 1 - i]; }\n"
    "__kernel void scale(__global float *x, float a) { x[get_global_id(0)] *= a; }\n"
    "__kernel void nothing(void) {}\n";

struct pair {
    cl_int i;
    cl_float f;
};

void check_values(const float *out)
{
    const float expected[] = {-1, -2, -3, 4, 0.5f, 6, 7, 8, 9, 10, 11};
    for (int i = 0; i < 11; i++)
        CHECK(out[i] == expected[i]);
}

void recorded(CLCONTEXT *cp, cl_uint dev, cl_kernel scale, float *x)
{
    clndrange_t four = clndrange_init1d(0, 4, 0);
    x[1] = 3;
    CHECK(clrecord_begin(cp, dev) == 0);
    clmsync(cp, dev, x, CL_MEM_DEVICE | CL_EVENT_NOWAIT);
    clforka(cp, dev, scale, &four, CL_EVENT_NOWAIT, x, 2.0f);
    clmsync(cp, dev, x, CL_MEM_HOST | CL_EVENT_NOWAIT);
    void *recording = clrecord_end(cp, dev);
    CHECK(recording != NULL);
    CHECK(clrecord_set(cp, recording, 1, 1, 5.0f) == 0);
    CHECK(clrecord_set(cp, recording, 1, 0, x) == 0);
    CHECK(clrecord_set(cp, recording, 1, 1, 5) == -1);
    CHECK(clrecord_replay(cp, recording, CL_EVENT_WAIT) == 0);
    CHECK(x[1] == 15);
    CHECK(clrecord_free(cp, recording) == 0);
}

void values_by_every_way(CLCONTEXT *cp, cl_uint dev, cl_kernel values, float *out)
{
    clndrange_t one = clndrange_init1d(0, 1, 1);
    const cl_char c = -1;
    const short s = -2;
    cl_float4 v = {{6, 7, 8, 9}};
    pair p = {10, 11};
    CHECK(clarg_set(values, 0, c) == 0);
    CHECK(clarg_set(cp, values, 1, s) == 0);
    CHECK(clarg_set(values, 2, -3) == 0);
    CHECK(clarg_set(cp, values, 3, static_cast<cl_ulong>(4)) == 0);
    CHECK(clarg_set(values, 4, 0.5f) == 0);
    CHECK(clarg_set(cp, values, 5, v) == 0);
    CHECK(clarg_set(values, 6, p) == 0);
    CHECK(clarg_set_global(cp, values, 7, out) == 0);
    CHECK(clfork(cp, dev, values, &one, CL_EVENT_WAIT) == NULL);
    CHECK(clmsync(cp, dev, out, CL_MEM_HOST) == NULL);
    check_values(out);
    memset(out, 0, 11 * sizeof *out);
    CHECK(clforka(cp, dev, values, &one, CL_EVENT_WAIT, c, s, -3, 4ul, 0.5f, v, p, out) == NULL);
    CHECK(clmsync(cp, dev, out, CL_MEM_HOST) == NULL);
    check_values(out);
}

void memory_and_kernels(CLCONTEXT *cp, void *program, cl_uint dev)
{
    const size_t n = 256;
    float *x = static_cast<float *>(clmalloc(cp, n * sizeof(float), 0));
    const float *constant = x;
    CHECK(x != NULL);
    std::vector<float> expected;
    for (size_t i = 0; i < n; i++) {
        x[i] = static_cast<float>(i);
        expected.push_back(3.0f * x[i]);
    }
    clndrange_t ndr = clndrange_init1d(0, n, 0);
    cl_kernel scale = clsym(cp, program, "scale", 0);
    CHECK(clmsync(cp, dev, x, CL_MEM_DEVICE | CL_EVENT_NOWAIT) != no_event);
    CHECK(clforka(cp, dev, scale, &ndr, CL_EVENT_NOWAIT, constant, 3.0f) != no_event);
    CHECK(clmsync(cp, dev, x, CL_MEM_HOST | CL_EVENT_NOWAIT) != no_event);
    CHECK(clwait(cp, dev, CL_ALL_EVENT) == NULL);
    CHECK(memcmp(x, expected.data(), n * sizeof *x) == 0);
    CHECK(clforka(cp, dev, clsym(cp, program, "nothing", 0), &ndr, CL_EVENT_WAIT) == NULL);
    CHECK(clforka(cp, dev, scale, clrange1(n), CL_EVENT_WAIT, constant, 2.0f) == NULL);
    CHECK(clmsync(cp, dev, x, CL_MEM_HOST) == NULL && x[n - 1] == 2 * expected[n - 1]);
    CHECK(clrange3(n, 2, 3)->gtid[2] == 3 && clrange2(n, 2)->dim == 2);
    CHECK(clfree(x) == 0);
}

void local_memory(CLCONTEXT *cp, void *program, cl_uint dev)
{
    const int n = 64;
    int *x = static_cast<int *>(clmalloc(cp, n * sizeof(int), 0));
    cl_kernel reverse = clsym(cp, program, "reverse", 0);
    clndrange_t ndr;
    clndrange_set1d(ndr, 0, n, n);
    for (int i = 0; i < n; i++)
        x[i] = i;
    CHECK(clmsync(cp, dev, x, CL_MEM_DEVICE) == NULL);
    CHECK(clforka(cp, dev, reverse, &ndr, CL_EVENT_WAIT, x, clarg_local(n * sizeof(int))) == NULL);
    CHECK(clmsync(cp, dev, x, CL_MEM_HOST) == NULL);
    CHECK(x[0] == n - 1 && x[n - 1] == 0);
    CHECK(clarg_set_local(reverse, 1, n * sizeof(int)) == 0);
    CHECK(clfork(cp, dev, reverse, &ndr, CL_EVENT_WAIT) == NULL);
    CHECK(clmsync(cp, dev, x, CL_MEM_HOST) == NULL);
    CHECK(x[0] == 0 && x[n - 1] == n - 1);
    CHECK(clforka(cp, dev, reverse, &ndr, CL_EVENT_WAIT, x, clarg_local(size_t(1) << 40)) ==
          no_event);
    CHECK(clerrno == EINVAL);
    CHECK(clfree(x) == 0);
}

/* Numbers of other types, and pointers to them. */
void types(CLCONTEXT *cp, void *program, cl_uint dev)
{
    clndrange_t one = clndrange_init1d(0, 1, 1);
    float *x = static_cast<float *>(clmalloc(cp, sizeof(float), 0));
    void *anything = x;
    cl_kernel scale = clsym(cp, program, "scale", 0);
    CHECK(clarg_set(scale, 1, 2) == -1);
    CHECK(strstr(clerror(), "an int of 4 bytes was given") != NULL);
    CHECK(clarg_set_global(scale, 0, static_cast<const double *>(anything)) ==
          static_cast<size_t>(-1));
    CHECK(strstr(clerror(), "a double* was given") != NULL);
    CHECK(clarg_set_global(scale, 0, static_cast<const cl_int4 *>(anything)) ==
          static_cast<size_t>(-1));
    CHECK(strstr(clerror(), "an int4* was given") != NULL);
    CHECK(clarg_set_global(scale, 0, static_cast<cl_float4 *>(anything)) == 0);
    CHECK(clforka(cp, dev, scale, &one, CL_EVENT_WAIT, x, 2) == no_event);
    CHECK(clforka(cp, dev, scale, &one, CL_EVENT_WAIT, static_cast<double *>(anything), 2.0f) ==
          no_event);
    CHECK(clforka(cp, dev, scale, &one, CL_EVENT_WAIT, anything, 2.0f) == NULL);
    CHECK(clarg_set_global(scale, 0, NULL) == 0);
    CHECK(clforka(cp, dev, scale, &one, CL_EVENT_WAIT, static_cast<const float *>(NULL), 2.0f) ==
          no_event);
    CHECK(strstr(clerror(), "NULL was given as float*; check what clmalloc returned") != NULL);
    CHECK(clarg_set_global(scale, 0, static_cast<float *>(NULL)) == static_cast<size_t>(-1));
    CHECK(clarg_set_global(scale, 0, static_cast<void *>(NULL)) == 0);
    CHECK(clarg_set_pointer(scale, 0, static_cast<void *>(NULL)) == 0);
    CHECK(clarg_set_global(scale, 0, anything) == 0);
    CHECK(clfree(x) == 0);
}

void embedded(CLCONTEXT *cp, cl_uint dev)
{
    static const unsigned char text[] =
        "__kernel void forty(__global int *x, int y) { x[0] = 40 + y; }";
    static stdcl_embedded kernels = {"forty.cl", text, sizeof text - 1, NULL};
    static bool registered;
    if (!registered)
        stdcl_embed_register(&kernels);
    registered = true;
    clndrange_t one = clndrange_init1d(0, 1, 1);
    int *x = static_cast<int *>(clmalloc(cp, sizeof(int), 0));
    CHECK(clexecb(cp, dev, &one, forty, x, 2) == NULL);
    CHECK(clmsync(cp, dev, x, CL_MEM_HOST) == NULL);
    CHECK(*x == 42);
    CHECK(clexec(cp, dev, &one, forty, x, 3) != no_event);
    CHECK(clmsync(cp, dev, x, CL_MEM_HOST) == NULL);
    CHECK(*x == 43);
    CHECK(clfree(x) == 0);
}

void errors(CLCONTEXT *cp)
{
    int on_stack = 0;
    clerrno = 0;
    CHECK(clfree(&on_stack) == -1);
    CHECK(clerrno == EFAULT);
    CHECK(clerror() != NULL);
    CHECK(clsopen(cp, "nonsense", CLLD_NOW) == NULL);
    CHECK(clerrno == ENOEXEC && oclerrno == CL_BUILD_PROGRAM_FAILURE);
}

} // namespace

int main()
{
    CLCONTEXT *cp = stddev;
    void *program = clsopen(cp, source, CLLD_NOW);
    CHECK(program != NULL);
    if (!program)
        return 1;
    float *out = static_cast<float *>(clmalloc(cp, 11 * sizeof(float), 0));
    for (cl_uint dev = 0; dev < clgetndev(cp); dev++) {
        values_by_every_way(cp, dev, clsym(cp, program, "values", 0), out);
        recorded(cp, dev, clsym(cp, program, "scale", 0), out);
        memory_and_kernels(cp, program, dev);
        local_memory(cp, program, dev);
        types(cp, program, dev);
        embedded(cp, dev);
    }
    errors(cp);
    CHECK(clfree(out) == 0);
    CHECK(clclose(cp, program) == 0);
    printf("%d failures\n", failures);
    return failures != 0;
}
