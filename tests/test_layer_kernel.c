/* test_layer_kernel.c - kernel arguments in both revisions of the API, index spaces, and
 * launches by clfork and clforka.
 *
 * The events that launches return are tested in test_layer_event.c.
 * SPDX-License-Identifier: MIT
 */
#include "check.h"
#include "core/args.h"
#include "files.h"
#include "pocl.h"

static CLCONTEXT *cp;
static void *program;
static int *out;
static clndrange_t one = clndrange_init1d(0, 1, 1);

enum { OUT = 1024 };

static int kernel_setup(void **state)
{
    (void)state;
    cp = stddev;
    if (!cp)
        return setup_done(false);
    program = clopen(cp, "kernels/args.cl", CLLD_NOW);
    out = clmalloc(cp, OUT * sizeof *out, 0);
    return setup_done(program && out);
}

static int kernel_teardown(void **state)
{
    (void)state;
    return clfree(out) | clclose(cp, program);
}

static cl_kernel args_kernel(const char *name)
{
    cl_kernel krn = clsym(cp, program, name, 0);
    ready(krn);
    return krn;
}

/* Run a kernel of one work-item on every device, the last one last, and fetch `out`. */
static void run_kernel_once(cl_kernel krn)
{
    for (cl_uint dev = 0; dev < clgetndev(cp); dev++) {
        done(clfork(cp, dev, krn, &one, CL_EVENT_WAIT));
        done(clmsync(cp, dev, out, CL_MEM_HOST));
    }
}

static const float *check_floats(void)
{
    return (const float *)out;
}

/* ---- clarg_set. ---- */

static void test_integers_by_value(void **state)
{
    (void)state;
    cl_kernel krn = args_kernel("integers");
    cl_char c = -5;
    cl_uchar uc = 250;
    short s = -30000;
    unsigned short us = 60000;
    const cl_uint ui = 4000000000u;
    cl_long l = -5000000000;
    works(clarg_set(krn, 0, c));
    works(clarg_set(cp, krn, 1, uc));
    works(clarg_set(krn, 2, s));
    works(clarg_set(cp, krn, 3, us));
    works(clarg_set(krn, 4, -7)); /* literals */
    works(clarg_set(cp, krn, 5, ui));
    works(clarg_set(krn, 6, l));
    works(clarg_set(cp, krn, 7, 10000000000000000000u));
    assert_int_equal(clarg_set_global(krn, 8, (void *)out), 0);
    run_kernel_once(krn);
    const cl_long *got = (const cl_long *)out;
    assert_int_equal(got[0], -5);
    assert_int_equal(got[1], 250);
    assert_int_equal(got[2], -30000);
    assert_int_equal(got[3], 60000);
    assert_int_equal(got[4], -7);
    assert_int_equal(got[5], 4000000000);
    assert_int_equal(got[6], -5000000000);
    assert_true((cl_ulong)got[7] == 10000000000000000000u);
}

static void test_floats_and_vectors_by_value(void **state)
{
    (void)state;
    cl_kernel krn = args_kernel("floats");
    cl_float2 f2 = {{1.5f, 2.5f}};
    cl_float4 f4 = {{3, 4, 5, 6}};
    works(clarg_set(cp, krn, 0, 0.25f));
    works(clarg_set(cp, krn, 1, f2));
    works(clarg_set(krn, 2, f4));
    works(clarg_set(krn, 3, ((cl_int4){{7, 8, 9, 10}}))); /* in parentheses because of its commas */
    assert_int_equal(clarg_set_global(cp, krn, 4, (void *)out), 0);
    run_kernel_once(krn);
    assert_true(check_floats()[0] == 0.25f && check_floats()[1] == 1.5f &&
                check_floats()[2] == 2.5f);
    for (int i = 3; i < 11; i++)
        assert_true(check_floats()[i] == (float)i);
}

struct pair {
    cl_int i;
    cl_float f;
    cl_char c[4];
};

static void test_structures_by_value(void **state)
{
    (void)state;
    cl_kernel krn = args_kernel("structure");
    struct pair p = {12, 3.5f, {1, 2, 3, 4}};
    works(clarg_set(krn, 0, p));
    assert_int_equal(clarg_set_global(krn, 1, (void *)out), 0);
    p.i = 99; /* set means copied */
    run_kernel_once(krn);
    assert_true(check_floats()[0] == 12 && check_floats()[1] == 3.5f && check_floats()[2] == 1 &&
                check_floats()[3] == 4);
}

static void test_doubles_by_value(void **state)
{
    (void)state;
    for (cl_uint dev = 0; dev < clgetndev(cp); dev++) {
        cl_uint width = 0;
        clGetDeviceInfo(clgetdevice(cp, dev), CL_DEVICE_PREFERRED_VECTOR_WIDTH_DOUBLE, sizeof width,
                        &width, NULL);
        if (width == 0)
            skip();
    }
    cl_kernel krn = args_kernel("doubles");
    works(clarg_set(krn, 0, 1.0 / 3)); /* a literal of this form is a double */
    works(clarg_set(cp, krn, 1, ((cl_double2){{0.1, 0.2}})));
    assert_int_equal(clarg_set_global(krn, 2, (void *)out), 0);
    run_kernel_once(krn);
    const double *got = (const double *)out;
    assert_true(got[0] == 1.0 / 3 && got[1] == 0.1 && got[2] == 0.2);
}

/* Macros evaluate each argument once. */
static void test_arguments_are_evaluated_once(void **state)
{
    (void)state;
    cl_kernel krn = args_kernel("three_names");
    int i = 1, value = 10;
    works(clarg_set(krn, i++, value++));
    works(clarg_set(cp, krn, i++, value++));
    assert_int_equal(i, 3);
    assert_int_equal(value, 12);
    int *where = out;
    assert_int_equal(clarg_set_global(krn, 0, where++), 0);
    assert_ptr_equal(where, out + 1);
    run_kernel_once(krn);
    assert_int_equal(out[0], 21);
    where = out;
    done(clforka(cp, 0, krn, &one, CL_EVENT_WAIT, where++, value++, i++));
    assert_ptr_equal(where, out + 1);
    done(clmsync(cp, 0, out, CL_MEM_HOST));
    assert_int_equal(out[0], 15);
    assert_int_equal(value, 13);
    assert_int_equal(i, 4);
}

static void test_set_refuses_bad_calls(void **state)
{
    (void)state;
    cl_kernel krn = args_kernel("three_names");
    fails(EINVAL, clarg_set(krn, 3, 1)); /* there are three */
    fails(EINVAL, clarg_set(krn, 1000000, 1));
    fails(EINVAL, clarg_set(krn, -1, 1));
    fails(EINVAL, clarg_set((cl_kernel)NULL, 0, 1));
    fails(EINVAL, clarg_set((cl_kernel)(void *)out, 0, 1)); /* none of clsym's */
    fails(EINVAL, clarg_set_local(krn, 3, 16));
    fails(EINVAL, clarg_set_local((cl_kernel)NULL, 0, 16));
    fails_size(EINVAL, clarg_set_global(krn, 3, out));
    fails_size(EINVAL, clarg_set_global((cl_kernel)NULL, 0, out));
}

static void test_wrong_sizes_are_refused(void **state)
{
    (void)state;
    cl_kernel krn = args_kernel("three_names");
    assert_int_equal(clarg_set_global(krn, 0, out), 0);
    works(clarg_set(krn, 2, 1));
    /* Rejected at the call or, at the latest, at the launch. */
    if (clarg_set(krn, 1, 1.0) == 0)
        fails_event(EINVAL, clfork(cp, 0, krn, &one, CL_EVENT_WAIT));
    else
        assert_int_equal(clerrno, EINVAL);
    fails_event(EINVAL, clforka(cp, 0, krn, &one, CL_EVENT_WAIT, out, (short)1, 2));
    fails_event(EINVAL, clforka(cp, 0, krn, &one, CL_EVENT_WAIT, out, 1, (cl_long)2));
    works(clarg_set(krn, 1, 4)); /* and the kernel is none the worse */
    works(clarg_set(krn, 2, 5));
    run_kernel_once(krn);
    assert_int_equal(out[0], 9);
}

/* If the platform reports a kernel's declaration, the message has both sides. */
static void test_arguments_are_compared_with_the_declaration(void **state)
{
    (void)state;
    cl_kernel krn = args_kernel("three_names"), tile = args_kernel("local_sum");
    size_t size = 0;
    if (clGetKernelArgInfo(krn, 1, CL_KERNEL_ARG_TYPE_NAME, 0, NULL, &size) != CL_SUCCESS)
        skip();
    check_forget();
    assert_int_equal(clarg_set(krn, 1, 1.0), -1);
    assert_int_equal(clerrno, EINVAL);
    const char *sentence = clerror();
    contains(sentence, "three_names");
    contains(sentence, "second_thing");
    contains(sentence, "int");
    contains(sentence, "double");
    fails(EINVAL, clarg_set(krn, 0, out)); /* a value for a memory argument */
    fails(EINVAL, clarg_set(krn, 0, 5));
    fails_size(EINVAL, clarg_set_global(krn, 1, out)); /* memory for a value argument */
    fails(EINVAL, clarg_set_local(krn, 0, 64));
    fails(EINVAL, clarg_set(tile, 0, 1));
    fails_size(EINVAL, clarg_set_global(tile, 0, out));
    fails_event(EINVAL, clforka(cp, 0, krn, &one, CL_EVENT_WAIT, 1, out, 2));
    done(clforka(cp, 0, krn, &one, CL_EVENT_WAIT, out, 1, 2));
}

/* Numbers of equal size and another kind are rejected. For pointers, integer types are
 * interchangeable. */
static void test_types_are_compared_with_the_declaration(void **state)
{
    (void)state;
    void *typed =
        clsopen(cp,
                "kernel void f(float a, int i, uint u, long l, global float *x, global int *n,"
                " global float4 *v, global uint2 *w) { x[0] = a + i + u + l; n[0] = i; }",
                CLLD_NOW);
    cl_kernel f = clsym(cp, typed, "f", 0);
    double *d = clmalloc(cp, 64, 0);
    ready(f);
    ready(d);
    float *x = (float *)d;
    int *n = (int *)d;
    cl_ulong *u = (cl_ulong *)d;
    const unsigned *un = (unsigned *)d;
    fails(EINVAL, clarg_set(f, 0, 2));
    assert_int_equal((clarg_set(f, 0, 2), clerrno), EINVAL);
    contains(clerror(),
             "argument 0 of kernel f is float a; an int of 4 bytes was given (2.0f is a float");
    fails(EINVAL, clarg_set(f, 1, 2.0f));
    fails(EINVAL, clarg_set(f, 2, 2.0f));
    fails(EINVAL, clarg_set(f, 3, 2.0));
    fails_size(EINVAL, clarg_set_global(f, 4, d));
    assert_int_equal((int)clarg_set_global(f, 4, d), -1);
    contains(clerror(),
             "is memory float* x; a double* was given (cast it to void * if that is meant)");
    fails_size(EINVAL, clarg_set_global(f, 6, d));
    fails_size(EINVAL, clarg_set_global(cp, f, 4, n));
    assert_int_equal((int)clarg_set_global(f, 4, n), -1);
    contains(clerror(),
             "is memory float* x; an int* was given (cast it to void * if that is meant)");
    fails_size(EINVAL, clarg_set_global(f, 5, (const float *)x));
    fails_size(EINVAL, clarg_set_global(f, 7, x));
    assert_int_equal(clarg_set_global(cp, f, 4, (void *)n), 0); /* a bit pattern of another type */
    assert_int_equal(clarg_set_global(f, 5, u), 0);             /* pairs */
    assert_int_equal(clarg_set_global(f, 7, un), 0);
    fails_event(EINVAL, clforka(cp, 0, f, &one, CL_EVENT_WAIT, 2, 1, 1, 1L, x));
    fails_event(EINVAL, clforka(cp, 0, f, &one, CL_EVENT_WAIT, 2.0f, 1, 1, 1L, d));
    done(clforka(cp, 0, f, &one, CL_EVENT_WAIT, 2.0f, 1u, 1, 1uL, x, un, x, u));
    fails_event(EINVAL, clforka(cp, 0, f, &one, CL_EVENT_WAIT, 2.0f, 1u, 1, 1uL, x, un, x, x));
    done(clforka(cp, 0, f, &one, CL_EVENT_WAIT, 2.0f, 1, 1, (long long)1, (void *)d, (char *)d,
                 (cl_float4 *)d, n));
    assert_int_equal(clarg_set_global(f, 5, un), 0);
    assert_int_equal(clarg_set_global(f, 4, NULL), 0);
    works(clfree(d));
    works(clclose(cp, typed));
}

/* Vectors differ by kind and size; numbers stand for vectors of them, as programs of 2009 have it.
 */
static void test_pointers_to_vectors_are_compared(void **state)
{
    (void)state;
    void *typed = clsopen(cp,
                          "kernel void f(global float2 *a, global float3 *b, global ulong2 *c,"
                          " global float *d, global uchar4 *e, int4 i) { d[0] = i.x; }",
                          CLLD_NOW);
    cl_kernel f = clsym(cp, typed, "f", 0);
    void *m = clmalloc(cp, 64, 0);
    ready(f);
    ready(m);
    assert_int_equal((int)clarg_set_global(f, 0, (cl_int2 *)m), -1);
    contains(clerror(), "is memory float2* a; an int2* was given");
    assert_int_equal((int)clarg_set_global(f, 0, (const cl_float4 *)m), -1);
    contains(clerror(), "is memory float2* a; a float4* was given");
    fails_size(EINVAL, clarg_set_global(f, 0, (cl_double2 *)m));
    fails_size(EINVAL, clarg_set_global(f, 0, (cl_float16 *)m));
    fails_size(EINVAL, clarg_set_global(f, 0, (cl_double *)m));
    fails_size(EINVAL, clarg_set_global(f, 1, (cl_float2 *)m));
    fails_size(EINVAL, clarg_set_global(f, 2, (cl_long4 *)m));
    fails_size(EINVAL, clarg_set_global(f, 2, (cl_float2 *)m));
    fails_size(EINVAL, clarg_set_global(f, 3, (cl_uint4 *)m));
    fails(EINVAL, clarg_set(f, 5, ((cl_float4){{0}})));
    assert_int_equal(clarg_set_global(f, 0, (cl_float2 *)m), 0);
    assert_int_equal(clarg_set_global(f, 0, (const float *)m), 0);
    assert_int_equal(clarg_set_global(f, 1, (cl_float3 *)m), 0);
    assert_int_equal(clarg_set_global(f, 1, (cl_float4 *)m), 0);
    assert_int_equal(clarg_set_global(f, 2, (cl_uint4 *)m), 0); /* pairs of words */
    assert_int_equal(clarg_set_global(f, 2, (cl_long2 *)m), 0);
    assert_int_equal(clarg_set_global(f, 3, (cl_float8 *)m), 0);
    assert_int_equal(clarg_set_global(f, 4, (cl_float4 *)m), 0); /* bytes */
    assert_int_equal(clarg_set_global(f, 0, (void *)m), 0);
    works(clarg_set(f, 5, ((cl_uint4){{0}})));
    works(clfree(m));
    works(clclose(cp, typed));
}

/* The types of scientific code: 2.0 for a float behind a typedef computed with 0. */
static void test_typedefs_and_macros_are_compared(void **state)
{
    (void)state;
    void *typed =
        clsopen(cp,
                "typedef float real;\n"
                "#ifdef WIDE\ntypedef double number;\n#else\n#define number real\n#endif\n"
                "typedef struct { float a, b; } pair_t;\n"
                "struct single { float a; };\n"
                "kernel void f(real a, number b, pair_t c, struct single d, global real *x)"
                " { x[0] = a + b + c.a + c.b + d.a; }",
                CLLD_NOW);
    struct {
        float a, b;
    } c = {4, 8};
    struct {
        float a;
    } d = {16};
    cl_kernel f = clsym(cp, typed, "f", 0);
    double *wide = clmalloc(cp, 64, 0);
    ready(f);
    ready(wide);
    float *x = (float *)wide;
    const double given = 1.0;
    fails(EINVAL, clarg_set(f, 0, 1.0));
    assert_true(clarg_set(f, 0, 1.0) == -1);
    contains(clerror(), "is float a; a double of 8 bytes was given");
    fails(EINVAL, clarg_set(f, 1, 2));
    assert_int_equal(clSetKernelArg(f, 0, sizeof given, &given), CL_INVALID_ARG_SIZE);
    fails_event(EINVAL, clforka(cp, 0, f, &one, CL_EVENT_WAIT, 1.0, 2.0f, c, d, x));
    fails_event(EINVAL, clforka(cp, 0, f, &one, CL_EVENT_WAIT, 1.0f, 2.0f, 4.0, d, x));
    fails_event(EINVAL, clforka(cp, 0, f, &one, CL_EVENT_WAIT, 1.0f, 2.0f, c, 16.0f, x));
    fails_event(EINVAL, clforka(cp, 0, f, &one, CL_EVENT_WAIT, 1.0f, 2.0f, c, d, wide));
    done(clforka(cp, 0, f, &one, CL_EVENT_WAIT, 1.0f, 2.0f, c, d, x));
    done(clmsync(cp, 0, x, CL_MEM_HOST));
    assert_true(x[0] == 31);
    works(clfree(wide));
    works(clclose(cp, typed));
}

/* Headers that include each other, one beside the kernel, one in a folder of -I, twice; a header in
 * a comment does not count. */
static void test_types_of_included_files_are_compared(void **state)
{
    assert_int_equal(files_create(state), 0);
    assert_int_equal(mkdir(in_folder("types"), 0700), 0);
    put_text(in_folder("types/real.h"), "\xEF\xBB\xBF#ifndef REAL_H\n#define REAL_H\n"
                                        "#include \"number.h\"\n#ifdef WIDE\n"
                                        "typedef double real;\n#else\ntypedef float real;\n"
                                        "#endif\n#endif\n");
    put_text(in_folder("types/number.h"), "#include <real.h>\n#define NUMBER int\n");
    put_text(in_folder("other.h"), "typedef double real;\n#define NUMBER long\n");
    put_text(in_folder("single.h"), "#pragma once\nstruct single { float a; };\n");
    put_text(in_folder("k.cl"), "/*\n#include \"other.h\"\n*/\n#include \"single.h\"\n"
                                "  # include <real.h> // by -I\n#include \"single.h\"\n"
                                "kernel void f(real a, NUMBER b, struct single c,"
                                " global real *x) { x[0] = a + b + c.a; }\n");
    char options[PATH_MAX + 16];
    for (int wide = 0; wide < 2; wide++) {
        void *typed = clopen(cp, in_folder("k.cl"), CLLD_NOBUILD);
        ready(typed);
        snprintf(options, sizeof options, "-I%s%s", in_folder("types"), wide ? " -D WIDE" : "");
        works(clbuild(cp, typed, options, 0));
        cl_kernel f = clsym(cp, typed, "f", 0);
        ready(f);
        if (wide)
            fails(EINVAL, clarg_set(f, 0, 1.0f));
        else
            fails(EINVAL, clarg_set(f, 0, 1.0));
        fails(EINVAL, clarg_set(f, 1, 1.0f));
        fails(EINVAL, clarg_set(f, 2, 1.0f));
        works(wide ? clarg_set(f, 0, 1.0) : clarg_set(f, 0, 1.0f));
        works(clarg_set(f, 1, 7));
        works(clclose(cp, typed));
    }
    files_remove(NULL);
}

/* ---- clarg_set_global and clarg_set_pointer. ---- */

static void test_constant_memory(void **state)
{
    (void)state;
    int *table = clmalloc(cp, 64 * sizeof *table, 0);
    ready(table);
    for (int i = 0; i < 64; i++)
        table[i] = i * i;
    cl_kernel krn = args_kernel("from_constant");
    for (cl_uint dev = 0; dev < clgetndev(cp); dev++) {
        done(clmsync(cp, dev, table, CL_MEM_DEVICE));
        done(clforka(cp, dev, krn, &one, CL_EVENT_WAIT, table, 9, out));
        done(clmsync(cp, dev, out, CL_MEM_HOST));
        assert_int_equal(out[0], 81);
    }
    works(clfree(table));
}

static size_t start_align(void)
{
    size_t align = 1;
    for (cl_uint dev = 0; dev < clgetndev(cp); dev++) {
        cl_uint bits = 0;
        clGetDeviceInfo(clgetdevice(cp, dev), CL_DEVICE_MEM_BASE_ADDR_ALIGN, sizeof bits, &bits,
                        NULL);
        align = align < bits / 8 ? bits / 8 : align;
    }
    return align;
}

static void test_pointers_are_seen_as_they_are(void **state)
{
    (void)state;
    static const int flags[] = {0, CL_MEM_ZEROCOPY};
    cl_kernel fill = basic_kernel(cp, "fill");
    size_t step = start_align() / sizeof(int), n = 4 * step;
    for (size_t f = 0; f < 2; f++)
        for (cl_uint dev = 0; dev < clgetndev(cp); dev++) {
            int *x = clmalloc(cp, n * sizeof *x, flags[f]);
            ready(x);
            done(clmsync(cp, dev, x, CL_MEM_DEVICE));
            clndrange_t ndr = clndrange_init1d(0, step, 0);
            works(clarg_set(fill, 1, 5));
            works(clarg_set_pointer(fill, 0, x + step));
            done(clfork(cp, dev, fill, &ndr, CL_EVENT_WAIT));
            works(clarg_set(cp, fill, 1, 6));
            works(clarg_set_pointer(fill, 0, x + 3 * step));
            done(clfork(cp, dev, fill, &ndr, CL_EVENT_WAIT));
            done(clforka(cp, dev, fill, &ndr, CL_EVENT_WAIT, x + 2 * step, 7));
            done(clmsync(cp, dev, x, CL_MEM_HOST));
            for (size_t i = 0; i < n; i++)
                assert_int_equal(x[i], i < step ? 0 : i < 2 * step ? 5 : i < 3 * step ? 7 : 6);
            works(clfree(x));
        }
}

/* Thousands of different offsets into one block, one after the other, accumulate nothing. Each
 * sub-buffer holds a reference to its block. */
static void test_many_offsets(void **state)
{
    (void)state;
    enum { OFFSETS = 3000 };
    size_t step = start_align() / sizeof(int);
    int *x = clmalloc(cp, OFFSETS * step * sizeof *x, 0);
    ready(x);
    cl_kernel fill = basic_kernel(cp, "fill");
    for (int i = 0; i < OFFSETS; i++)
        started(clforka(cp, 0, fill, &one, CL_EVENT_NOWAIT, x + (size_t)i * step, i));
    done(clmsync(cp, 0, x, CL_MEM_HOST));
    for (int i = 0; i < OFFSETS; i++)
        assert_int_equal(x[(size_t)i * step], i);
    cl_uint references = 0;
    assert_int_equal(clGetMemObjectInfo(clgetbuffer(cp, 0, x), CL_MEM_REFERENCE_COUNT,
                                        sizeof references, &references, NULL),
                     CL_SUCCESS);
    assert_true(references < OFFSETS / 3);
    works(clfree(x));
}

/* Two parts of one block in a launch: the second sub-buffer may evict others, and the first
 * stays valid. */
static void test_many_pairs_of_offsets(void **state)
{
    (void)state;
    enum { PAIRS = 200 };
    size_t step = start_align() / sizeof(int);
    int *x = clmalloc(cp, (2 * PAIRS + 2) * step * sizeof *x, 0);
    ready(x);
    for (int odd = 0; odd < 2; odd++) {
        memset(x, 0, clsizeofmem(x));
        for (int i = 0; i < PAIRS; i++)
            x[(size_t)(2 * i + 1) * step] = i + 1;
        done(clmsync(cp, 0, x, CL_MEM_DEVICE));
        if (odd)
            started(clforka(cp, 0, basic_kernel(cp, "fill"), &one, CL_EVENT_NOWAIT,
                            x + (2 * PAIRS + 1) * step, 1));
        for (int i = 0; i < PAIRS; i++)
            started(clforka(cp, 0, basic_kernel(cp, "copy"), &one, CL_EVENT_NOWAIT,
                            x + (size_t)(2 * i + 1) * step, x + (size_t)(2 * i + 2) * step));
        done(clmsync(cp, 0, x, CL_MEM_HOST));
        for (int i = 0; i < PAIRS; i++)
            assert_int_equal(x[(size_t)(2 * i + 2) * step], i + 1);
    }
    works(clfree(x));
}

static void test_global_offsets_of_devonly(void **state)
{
    (void)state;
    size_t step = start_align() / sizeof(int);
    int *scratch = clmalloc(cp, 2 * step * sizeof *scratch, CL_MEM_DEVONLY);
    int *x = clmalloc(cp, 2 * step * sizeof *x, 0);
    ready(scratch);
    ready(x);
    clndrange_t half = clndrange_init1d(0, step, 0), both = clndrange_init1d(0, 2 * step, 0);
    cl_kernel fill = basic_kernel(cp, "fill");
    started(clforka(cp, 0, fill, &both, CL_EVENT_NOWAIT, scratch, 1));
    started(clforka(cp, 0, fill, &half, CL_EVENT_NOWAIT, scratch + step, 2));
    started(clmcopy(cp, 0, scratch, x, CL_EVENT_NOWAIT));
    done(clmsync(cp, 0, x, CL_MEM_HOST));
    for (size_t i = 0; i < 2 * step; i++)
        assert_int_equal(x[i], i < step ? 1 : 2);
    works(clfree(scratch));
    works(clfree(x));
}

/* A historic idiom: the kernel gets the whole block, and the offset as a number. */
static void test_global_binds_the_whole_block(void **state)
{
    (void)state;
    size_t (*set)(CLCONTEXT *, cl_kernel, cl_uint, void *) = clarg_set_global;
    struct {
        size_t (*clarg_set_global)(CLCONTEXT *, cl_kernel, cl_uint, void *);
    } table = {clarg_set_global};
    cl_kernel fill = basic_kernel(cp, "fill");
    int *x = clmalloc(cp, 64 * sizeof *x, 0);
    ready(x);
    works(clarg_set(fill, 1, 7));
    assert_int_equal(clarg_set_global(fill, 0, x), 0);
    assert_int_equal(clarg_set_global(cp, fill, 0, x + 64 - 1), 63 * sizeof *x);
    assert_int_equal(clarg_set_global(fill, 0, (char *)x + 1), 1);
    assert_int_equal((table.clarg_set_global)(cp, fill, 0, x + 5), 5 * sizeof *x);
    assert_int_equal(set(cp, fill, 0, x + 3), 3 * sizeof *x);
    done(clfork(cp, 0, fill, &one, CL_EVENT_WAIT));
    done(clmsync(cp, 0, x, CL_MEM_HOST));
    assert_int_equal(x[0], 7);
    assert_true(set(cp, fill, 0, &one) == (size_t)-1);
    works(clfree(x));
}

/* Work memory used in parts first and then as a whole keeps its contents. */
static void test_pointers_before_the_whole(void **state)
{
    enum { PART = 1 << 18, ITEMS = PART / 4 };
    static const char source[] =
        "kernel void put(global uint *x, uint seed) { x[get_global_id(0)] = get_global_id(0) * 2654435761u + seed; }"
        "kernel void move(global const uint *x, global uint *y) { y[get_global_id(0)] = x[get_global_id(0)]; }";
    clndrange_t items = clndrange_init1d(0, ITEMS, 0);
    (void)state;
    void *parts = clsopen(cp, source, CLLD_NOW);
    cl_kernel put = clsym(cp, parts, "put", 0), move = clsym(cp, parts, "move", 0);
    cl_uint *got = clmalloc(cp, 4 * PART, 0);
    ready(put && move ? got : NULL);
    for (cl_uint dev = 0; dev < clgetndev(cp); dev++) {
        char *work = clmalloc(cp, 4 * PART, CL_MEM_DEVONLY);
        ready(work);
        works(clarg_set_pointer(put, 0, work + PART));
        works(clarg_set(put, 1, 7 + dev));
        started(clfork(cp, dev, put, &items, CL_EVENT_NOWAIT));
        works(clarg_set_pointer(move, 0, work + PART));
        works(clarg_set_pointer(move, 1, work + 3 * PART));
        started(clfork(cp, dev, move, &items, CL_EVENT_NOWAIT));
        started(clmcopy(cp, dev, work, got, CL_EVENT_NOWAIT)); /* the whole */
        started(clmsync(cp, dev, got, CL_MEM_HOST | CL_EVENT_NOWAIT));
        done(clwait(cp, dev, CL_ALL_EVENT));
        for (cl_uint i = 0; i < ITEMS; i++)
            assert_true(got[ITEMS + i] == i * 2654435761u + 7 + dev &&
                        got[3 * ITEMS + i] == got[ITEMS + i]);
        works(clfree(work));
    }
    works(clfree(got));
    works(clclose(cp, parts));
}

static void test_pointer_refuses_offsets_it_cannot_apply(void **state)
{
    (void)state;
    cl_kernel fill = basic_kernel(cp, "fill");
    if (start_align() == 1)
        skip();
    fails(EINVAL, clarg_set_pointer(fill, 0, (char *)out + 1));
    fails(EINVAL, clarg_set_pointer(fill, 0, (char *)out + start_align() - 1));
    fails_event(EINVAL, clforka(cp, 0, fill, &one, CL_EVENT_WAIT, (char *)out + 1,
                                1)); /* rusticl and NVIDIA's driver do not look */
    fails_event(EINVAL,
                clforka(cp, 0, fill, &one, CL_EVENT_WAIT, (char *)out + start_align() - 4, 1));
    done(clforka(cp, 0, fill, &one, CL_EVENT_WAIT, out, 1));
}

static void test_global_refuses_unknown_pointers(void **state)
{
    (void)state;
    int on_stack = 0;
    cl_kernel fill = basic_kernel(cp, "fill");
    fails_size(EFAULT, clarg_set_global(fill, 0, &on_stack));
    fails_size(EFAULT, clarg_set_global(cp, fill, 0, &on_stack));
    fails(EFAULT, clarg_set_pointer(fill, 0, &on_stack));
    works(clarg_set_pointer(fill, 0, NULL));
    fails_event(EFAULT, clforka(cp, 0, fill, &one, CL_EVENT_WAIT, &on_stack, 1));
    contains((clarg_set_global(fill, 0, &on_stack), clerror()),
             "argument 0 of kernel fill is memory int* x: the host pointer");
    void *detached = clmalloc(cp, 100, CL_MEM_DETACHED);
    ready(detached);
    fails_event(ANY_ERROR, clforka(cp, 0, fill, &one, CL_EVENT_WAIT, detached, 1));
    works(clfree(detached));
}

/* Passing a failed clmalloc's NULL is an error where the kernel needs memory; a kernel that
 * tests for NULL gets NULL. */
static void test_null_as_memory(void **state)
{
    (void)state;
    static const char source[] =
        "__kernel void f(__global int *in, __global int *out) { out[0] = in ? in[0] : 7; }"
        "__kernel void g(__global int4 *in, __global int *out) { out[0] = in ? in[0].x : 8; }";
    void *tests = clsopen(cp, source, CLLD_NOW);
    cl_kernel f = clsym(cp, tests, "f", 0), g = clsym(cp, tests, "g", 0);
    int *none = clmalloc(cp, SIZE_MAX, 0), *result = clmalloc(cp, sizeof *result, 0);
    const int *none_either = none;
    cl_int4 *no_vectors = NULL;
    void *meant = NULL;
    ready(f), ready(g), ready(result);
    assert_null(none);
    fails_event(EFAULT, clforka(cp, 0, f, &one, CL_EVENT_WAIT, none, result));
    assert_true(clforka(cp, 0, f, &one, CL_EVENT_NOWAIT, none_either, result) == (cl_event)-1);
    assert_true(clwait(cp, 0, CL_ALL_EVENT) == (cl_event)-1);
    contains(
        clerror(),
        "clforka: argument 0 of kernel f is memory int* in: NULL was given as int*; check what clmalloc returned");
    fails_event(EFAULT, clforka(cp, 0, g, &one, CL_EVENT_WAIT, no_vectors, result));
    fails_size(EFAULT, clarg_set_global(f, 0, none));
    fails_size(EFAULT, clarg_set_global(cp, g, 0, no_vectors));
    fails(EFAULT, clarg_set_pointer(f, 0, none));
    done(clforka(cp, 0, f, &one, CL_EVENT_WAIT, NULL, result));
    done(clmsync(cp, 0, result, CL_MEM_HOST));
    assert_int_equal(result[0], 7);
    done(clforka(cp, 0, g, &one, CL_EVENT_WAIT, meant, result));
    done(clmsync(cp, 0, result, CL_MEM_HOST));
    assert_int_equal(result[0], 8);
    works(clfree(result));
    works(clclose(cp, tests));
}

/* ---- Lists of core/args.h, as engines launch their kernels. ---- */

static cl_event start_advance(cl_kernel krn, cl_uint nargs, const struct stdcl_arg *args)
{
    return clforkv(cp, 0, krn, &one, CL_EVENT_WAIT, nargs, args);
}

#define refused(call, part)                                                                        \
    do {                                                                                           \
        assert_ptr_equal(call, NO_EVENT);                                                          \
        assert_int_equal(clerrno, EINVAL);                                                         \
        contains(clerror(), part);                                                                 \
    } while (0)

static void test_swapped_arguments_of_a_list_are_refused(void **state)
{
    (void)state;
    static const char source[] = "__kernel void advance(__global float4 *posm, uint n, float eps,\n"
                                 "                   float dt, __local float *tile)\n"
                                 "{ posm[0] = (float4)(n, eps, dt, 0); (void)tile; }\n";
    const struct {
        size_t real;
    } in_single = {sizeof(float)}, in_double = {sizeof(double)};
    void *tests = clsopen(cp, source, CLLD_NOW), *posm = clmalloc(cp, sizeof(cl_float4), 0);
    cl_kernel k = clsym(cp, tests, "advance", 0);
    const stdcl_local_t tile = clarg_local(16);
    const cl_uint n = 3;
    const float eps = 0.5f;
    ready(k), ready(posm);
    done(start_advance(k, ARGS(posm, n, eps, REAL(&in_single, 0.25), tile)));
    done(clmsync(cp, 0, posm, CL_MEM_HOST));
    const float *const x = posm;
    assert_true(x[0] == 3 && x[1] == 0.5f && x[2] == 0.25f);

    refused(start_advance(k, ARGS(posm, eps, n, REAL(&in_single, 0.25), tile)),
            "clforkv: argument 1 of kernel advance is uint n; a float of 4 bytes was given");
    refused(start_advance(k, ARGS(posm, n, n, REAL(&in_single, 0.25), tile)),
            "clforkv: argument 2 of kernel advance is float eps; a uint of 4 bytes was given");
    refused(start_advance(k, ARGS(posm, n, eps, REAL(&in_double, 0.25), tile)),
            "clforkv: argument 3 of kernel advance is float dt; a double of 8 bytes was given");
    refused(start_advance(k, ARGS(n, posm, eps, REAL(&in_single, 0.25), tile)),
            "clforkv: argument 0 of kernel advance is memory float4* posm; a uint");
    refused(start_advance(k, ARGS(posm, posm, eps, REAL(&in_single, 0.25), tile)),
            "clforkv: argument 1 of kernel advance is uint n; a void*");
    refused(start_advance(k, ARGS(posm, n, eps, tile, tile)),
            "clforkv: argument 3 of kernel advance is float dt; local memory was given");
    refused(start_advance(k, ARGS(posm, n, eps, eps, tile, n)),
            "clforkv: kernel advance has 5 arguments, 6 are given");
    done(start_advance(k, ARGS(posm, n, eps, REAL(&in_single, 0.25), tile)));
    works(clfree(posm));
    works(clclose(cp, tests));
}

/* Types that have no name do not compile: tests/house/untyped.sh. */
static void test_every_argument_of_a_list_has_a_type(void **state)
{
    (void)state;
    const struct {
        size_t real;
    } in_single = {sizeof(float)}, in_double = {sizeof(double)};
    const struct {
        double at[4];
    } centre = {{0}};
    const double(*rows)[4] = NULL;
    const cl_ulong all = 1;
    const cl_float4 vector = {{0}};
    void *block = NULL;
    cl_mem buffer = NULL;
    const struct stdcl_arg made = ARG_AT(all);
    const struct stdcl_arg list[] = {ARG((cl_char)1),
                                     ARG((cl_uchar)1),
                                     ARG((cl_short)1),
                                     ARG((cl_ushort)1),
                                     ARG(1),
                                     ARG(1u),
                                     ARG((cl_long)1),
                                     ARG(all),
                                     ARG(1.0f),
                                     ARG(1.0),
                                     ARG(vector),
                                     ARG(AS("double4", centre)),
                                     ARG(REAL(&in_single, 1)),
                                     ARG(REAL(&in_double, 1)),
                                     ARG(block),
                                     ARG(rows),
                                     ARG(buffer),
                                     ARG(made)};
    static const char *const names[] = {"char",  "uchar",  "short", "ushort",  "int",    "uint",
                                        "long",  "ulong",  "float", "double",  "float4", "double4",
                                        "float", "double", "void*", "pointer", "cl_mem", "ulong"};
    assert_int_equal(COUNT_OF(list), COUNT_OF(names));
    for (cl_uint i = 0; i < COUNT_OF(list); i++)
        assert_string_equal(list[i].type, names[i]);
    assert_int_equal(list[11].size, 32);
    assert_int_equal(list[12].size, sizeof(float));
    assert_int_equal(list[13].size, sizeof(double));
}

static void test_freed_block_as_argument(void **state)
{
    (void)state;
    cl_kernel fill = basic_kernel(cp, "fill");
    int *x = clmalloc(cp, 100 * sizeof *x, 0);
    ready(x);
    works(clarg_set(fill, 1, 1));
    assert_int_equal(clarg_set_global(fill, 0, x), 0);
    done(clfork(cp, 0, fill, &one, CL_EVENT_WAIT));
    works(clfree(x));
    fails_event(EFAULT, clfork(cp, 0, fill, &one, CL_EVENT_WAIT));
    assert_int_equal(clarg_set_global(fill, 0, out), 0); /* and is usable again */
    run_kernel_once(fill);
    assert_int_equal(out[0], 1);
}

static void test_detached_block_as_argument(void **state)
{
    (void)state;
    cl_kernel fill = basic_kernel(cp, "fill");
    int *x = clmalloc(cp, 100 * sizeof *x, 0);
    ready(x);
    done(clforka(cp, 0, fill, &one, CL_EVENT_WAIT, x, 1));
    works(clmdetach(x));
    fails_event(ANY_ERROR, clfork(cp, 0, fill, &one, CL_EVENT_WAIT));
    works(clfree(x));
}

/* A block replaced by clmrealloc, in place or not, is never mistaken for the old one. */
static void test_reallocated_block_as_argument(void **state)
{
    (void)state;
    cl_kernel fill = basic_kernel(cp, "fill");
    for (size_t size = 4096; size < 10000000; size *= 3) {
        int *x = clmalloc(cp, 4096, 0);
        ready(x);
        done(clforka(cp, 0, fill, &one, CL_EVENT_WAIT, x, 1));
        x = clmrealloc(cp, x, size, 0);
        ready(x);
        clndrange_t ndr = clndrange_init1d(0, size / sizeof *x, 0);
        done(clforka(cp, 0, fill, &ndr, CL_EVENT_WAIT, x, 8));
        done(clmsync(cp, 0, x, CL_MEM_HOST));
        assert_int_equal(x[size / sizeof *x - 1], 8);
        works(clfree(x));
    }
}

/* ---- Local memory. ---- */

static void test_local_memory(void **state)
{
    (void)state;
    cl_kernel krn = args_kernel("local_sum");
    for (size_t n = 4; n <= 64; n *= 4) {
        clndrange_t ndr = clndrange_init1d(0, 2 * n, n);
        works(clarg_set_local(krn, 0, n * sizeof(int)));
        assert_int_equal(clarg_set_global(krn, 1, out), 0);
        done(clfork(cp, 0, krn, &ndr, CL_EVENT_WAIT));
        done(clmsync(cp, 0, out, CL_MEM_HOST));
        assert_int_equal(out[0], n * (n - 1) / 2);
        assert_int_equal(out[1], n * (n - 1) / 2);
        memset(out, 0, 8);
        works(clarg_set_local(cp, krn, 0, n * sizeof(int)));
        done(clfork(cp, 0, krn, &ndr, CL_EVENT_WAIT));
        done(clmsync(cp, 0, out, CL_MEM_HOST));
        assert_int_equal(out[1], n * (n - 1) / 2);
    }
    clndrange_t ndr = clndrange_init1d(0, 64, 32);
    done(clforka(cp, 0, args_kernel("two_locals"), &ndr, CL_EVENT_WAIT,
                 clarg_local(64 * 32 * sizeof(int)), clarg_local(64 * 32 * sizeof(float)),
                 (void *)out));
    done(clmsync(cp, 0, out, CL_MEM_HOST));
    for (int i = 0; i < 64; i++) /* half the sum of 32 k + (31 - i), all exact */
        assert_true(check_floats()[i] == 0.5f * (float)(32 * (63 * 64 / 2) + 64 * (31 - i % 32)));
}

static void test_too_much_local_memory(void **state)
{
    (void)state;
    cl_kernel krn = args_kernel("local_sum");
    clndrange_t ndr = clndrange_init1d(0, 4, 4);
    fails_event(ANY_ERROR,
                clforka(cp, 0, krn, &ndr, CL_EVENT_WAIT, clarg_local((size_t)1 << 40), out));
    done(clforka(cp, 0, krn, &ndr, CL_EVENT_WAIT, clarg_local(16), out));
}

/* ---- Arguments that are missing, or too many. ---- */

static void test_argument_never_set(void **state)
{
    (void)state;
    void *fresh = clopen(cp, "kernels/args.cl", CLLD_NOW);
    ready(fresh);
    cl_kernel krn = clsym(cp, fresh, "three_names", 0);
    ready(krn);
    fails_event(EINVAL, clfork(cp, 0, krn, &one, CL_EVENT_WAIT));
    assert_int_equal(clarg_set_global(krn, 0, out), 0);
    works(clarg_set(krn, 2, 1));
    check_forget();
    assert_ptr_equal(clfork(cp, 0, krn, &one, CL_EVENT_WAIT), NO_EVENT);
    assert_int_equal(clerrno, EINVAL);
    const char *sentence = clerror();
    contains(sentence, "three_names");                                  /* which kernel */
    contains(sentence, "second_thing");                                 /* which argument */
    fails_event(EINVAL, clforka(cp, 0, krn, &one, CL_EVENT_WAIT, out)); /* still */
    works(clarg_set(krn, 1, 3));
    run_kernel_once(krn);
    assert_int_equal(out[0], 4);
    works(clclose(cp, fresh));
}

static void test_forka_with_too_many_arguments(void **state)
{
    (void)state;
    fails_event(EINVAL,
                clforka(cp, 0, args_kernel("three_names"), &one, CL_EVENT_WAIT, out, 1, 2, 3));
    fails_event(EINVAL, clforka(cp, 0, basic_kernel(cp, "nothing"), &one, CL_EVENT_WAIT, out));
}

/* ---- clforka. ---- */

static void test_forka_without_arguments(void **state)
{
    (void)state;
    clndrange_t ndr = clndrange_init1d(0, 64, 0);
    for (cl_uint dev = 0; dev < clgetndev(cp); dev++) {
        cl_event ev = started(
            clforka(cp, dev, basic_kernel(cp, "nothing"), &ndr, CL_EVENT_NOWAIT | CL_EVENT_OWN));
        done(clwait(cp, dev, CL_KERNEL_EVENT));
        assert_int_equal(event_status(ev), CL_COMPLETE);
        clReleaseEvent(ev);
    }
}

static void test_forka_with_every_kind_of_argument(void **state)
{
    (void)state;
    unsigned char uc = 200;
    cl_float4 f4 = {{3, 4, 5, 6}};
    const short s = -3;
    done(clforka(cp, 0, args_kernel("integers"), &one, CL_EVENT_WAIT, (char)-1, uc, s,
                 (unsigned short)40000, -5, 6u, -7l, (cl_ulong)8, (void *)out));
    done(clmsync(cp, 0, out, CL_MEM_HOST));
    static const cl_long expected[] = {-1, 200, -3, 40000, -5, 6, -7, 8};
    assert_memory_equal(out, expected, sizeof expected);
    cl_int4 i4 = {{7, 8, 9, 10}};
    done(clforka(cp, 0, args_kernel("floats"), &one, CL_EVENT_WAIT, 1.0f / 4, ((cl_float2){{1, 2}}),
                 f4, i4, (cl_float *)out));
    done(clmsync(cp, 0, out, CL_MEM_HOST));
    assert_true(check_floats()[0] == 0.25f);
    for (int i = 1; i < 11; i++)
        assert_true(check_floats()[i] == (float)i);
    struct pair p = {1, 2, {3, 4, 5, 6}};
    done(clforka(cp, 0, args_kernel("structure"), &one, CL_EVENT_WAIT, p, (void *)out));
    done(clmsync(cp, 0, out, CL_MEM_HOST));
    assert_true(check_floats()[0] == 1 && check_floats()[1] == 2 && check_floats()[2] == 3 &&
                check_floats()[3] == 6);
}

static void test_forka_with_pointers_of_every_type(void **state)
{
    (void)state;
    cl_kernel fill = basic_kernel(cp, "fill");
    const int *constant = out;
    void *untyped = out;
    cl_int4 *vectors = (cl_int4 *)out;
    volatile int *nervous = out;
    struct pair *structures = (struct pair *)out;
    int(*rows)[4] = (int(*)[4])out;
    done(clforka(cp, 0, fill, &one, CL_EVENT_WAIT, constant, 1));
    done(clforka(cp, 0, fill, &one, CL_EVENT_WAIT, untyped, 2));
    done(clforka(cp, 0, fill, &one, CL_EVENT_WAIT, vectors, 3));
    done(clforka(cp, 0, fill, &one, CL_EVENT_WAIT, nervous, 4));
    done(clforka(cp, 0, fill, &one, CL_EVENT_WAIT, structures, 5));
    done(clforka(cp, 0, fill, &one, CL_EVENT_WAIT, rows, 6));
    done(clforka(cp, 0, fill, &one, CL_EVENT_WAIT, (char *)out, 7));
    done(clmsync(cp, 0, out, CL_MEM_HOST));
    assert_int_equal(out[0], 7);
}

/* OpenCL objects of the program are passed as they are. */
static void test_forka_with_an_opencl_buffer(void **state)
{
    (void)state;
    cl_int err = CL_SUCCESS, got[16];
    cl_mem buffer =
        clCreateBuffer(clgetclcontext(cp, 0), CL_MEM_READ_WRITE, sizeof got, NULL, &err);
    assert_int_equal(err, CL_SUCCESS);
    clndrange_t ndr = clndrange_init1d(0, 16, 0);
    done(clforka(cp, 0, basic_kernel(cp, "fill"), &ndr, CL_EVENT_WAIT, buffer, 19));
    assert_int_equal(
        clEnqueueReadBuffer(clgetqueue(cp, 0), buffer, CL_TRUE, 0, sizeof got, got, 0, NULL, NULL),
        CL_SUCCESS);
    assert_int_equal(got[15], 19);
    clReleaseMemObject(buffer);
}

static void test_forka_with_63_arguments(void **state)
{
    (void)state;
    done(clforka(cp, 0, args_kernel("sixty_three"), &one, CL_EVENT_WAIT, 1000, 1001, 1002, 1003,
                 1004, 1005, 1006, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 1014, 1015, 1016, 1017,
                 1018, 1019, 1020, 1021, 1022, 1023, 1024, 1025, 1026, 1027, 1028, 1029, 1030, 1031,
                 1032, 1033, 1034, 1035, 1036, 1037, 1038, 1039, 1040, 1041, 1042, 1043, 1044, 1045,
                 1046, 1047, 1048, 1049, 1050, 1051, 1052, 1053, 1054, 1055, 1056, 1057, 1058, 1059,
                 1060, 1061, out));
    done(clmsync(cp, 0, out, CL_MEM_HOST));
    for (int i = 0; i < 62; i++)
        assert_int_equal(out[i], 1000 + i);
}

/* The maximum of the macro: 126 bytes and a block. */
static void test_forka_with_127_arguments(void **state)
{
    (void)state;
    char *source = NULL;
    size_t size = 0;
    FILE *fp = open_memstream(&source, &size);
    ready(fp);
    fputs("kernel void many(", fp);
    for (int i = 0; i < 126; i++)
        fprintf(fp, "char a%d, ", i);
    fputs("global int *x) {", fp);
    for (int i = 0; i < 126; i++)
        fprintf(fp, " x[%d] = a%d;", i, i);
    fputs(" }", fp);
    fclose(fp);
    void *many = clsopen(cp, source, CLLD_NOW);
    free(source);
    ready(many);
    int *x = clmalloc(cp, 126 * sizeof *x, 0);
    ready(x);
#define SEVEN(c) c, c, c, c, c, c, c
#define ALIKE(c) SEVEN(c), SEVEN(c), SEVEN(c), SEVEN(c), SEVEN(c), SEVEN(c)
    const char a = 1, b = 2, c = 3;
    done(clforka(cp, 0, clsym(cp, many, "many", 0), &one, CL_EVENT_WAIT, ALIKE(a), ALIKE(b),
                 ALIKE(c), x));
    done(clmsync(cp, 0, x, CL_MEM_HOST));
    for (int i = 0; i < 126; i++)
        assert_int_equal(x[i], 1 + i / 42);
    works(clfree(x));
    works(clclose(cp, many));
}

static void test_forka_sets_what_clfork_uses(void **state)
{
    (void)state;
    cl_kernel krn = args_kernel("three_names");
    done(clforka(cp, 0, krn, &one, CL_EVENT_WAIT, out, 1, 2));
    works(clarg_set(krn, 2, 40));
    run_kernel_once(krn);
    assert_int_equal(out[0], 41);
    done(clforka(cp, 0, krn, &one, CL_EVENT_WAIT, out,
                 2)); /* fewer: the third is the recorded one */
    done(clmsync(cp, 0, out, CL_MEM_HOST));
    assert_int_equal(out[0], 42);
}

/* A forgotten argument is refused, rather than taken from an earlier launch. */
static void test_forka_refuses_forgotten_arguments(void **state)
{
    (void)state;
    cl_kernel krn = args_kernel("three_names");
    done(clforka(cp, 0, krn, &one, CL_EVENT_WAIT, out, 1, 2));
    fails_event(EINVAL, clforka(cp, 0, krn, &one, CL_EVENT_WAIT, out, 3));
    fails_event(EINVAL, clforka(cp, 0, krn, &one, CL_EVENT_WAIT));
    clarg_info_t info;
    works(clarg_info(krn, 2, &info)); /* a query sets nothing */
    fails_event(EINVAL, clforka(cp, 0, krn, &one, CL_EVENT_WAIT, out, 3));
    done(clfork(cp, 0, krn, &one, CL_EVENT_WAIT)); /* takes all from before by definition */
    works(clarg_set(krn, 2, 2));                   /* an equal value counts as set */
    done(clforka(cp, 0, krn, &one, CL_EVENT_WAIT, out, 3));
    done(clmsync(cp, 0, out, CL_MEM_HOST));
    assert_int_equal(out[0], 5);
}

/* A launched kernel keeps the arguments of its launch. */
static void test_arguments_may_change_after_the_start(void **state)
{
    (void)state;
    cl_kernel slow = basic_kernel(cp, "slow"), krn = args_kernel("three_names");
    cl_uint *x = clmalloc(cp, 16 * sizeof *x, 0);
    ready(x);
    clndrange_t ndr = clndrange_init1d(0, 16, 16);
    done(clmsync(cp, 0, x, CL_MEM_DEVICE));
    started(clforka(cp, 0, slow, &ndr, CL_EVENT_NOWAIT, x, 3000000)); /* holds the queue up */
    started(clforka(cp, 0, krn, &one, CL_EVENT_NOWAIT, out, 1, 2));
    works(clarg_set(krn, 1, 100));
    works(clarg_set(krn, 2, 200));
    works(clarg_set(slow, 1, 1));
    done(clmsync(cp, 0, out, CL_MEM_HOST));
    assert_int_equal(out[0], 3);
    done(clmsync(cp, 0, x, CL_MEM_HOST));
    assert_int_equal(x[0], slow_reference(0, 3000000));
    works(clfree(x));
}

/* ---- OpenCL's own call, on a handle. ---- */

static void run_everywhere(cl_kernel krn, int *x, int wanted)
{
    clndrange_t ndr = clndrange_init1d(0, 16, 0);
    for (cl_uint dev = 0; dev < clgetndev(cp); dev++) {
        x[15] = 0;
        done(clfork(cp, dev, krn, &ndr, CL_EVENT_WAIT));
        done(clmsync(cp, dev, x, CL_MEM_HOST));
        assert_int_equal(x[15], wanted);
    }
}

/* Earlier values of clarg_set apply on no device. */
static void test_set_kernel_arg_reaches_all_devices(void **state)
{
    (void)state;
    cl_kernel fill = basic_kernel(cp, "fill");
    int *x = clmalloc(cp, 16 * sizeof *x, CL_MEM_PER_DEVICE),
        *y = clmalloc(cp, 16 * sizeof *y, CL_MEM_PER_DEVICE);
    ready(x);
    ready(y);
    assert_int_equal(clarg_set_global(fill, 0, x), 0);
    works(clarg_set(fill, 1, 3));
    run_everywhere(fill, x, 3);
    for (int value = 5; value < 8; value++) {
        assert_int_equal(clSetKernelArg(fill, 1, sizeof value, &value), CL_SUCCESS);
        run_everywhere(fill, x, value);
    }
    for (cl_uint dev = 0; dev < clgetndev(cp); dev++) { /* any device's buffer is the block */
        const int value = 10 + (int)dev;
        cl_mem buffer = clgetbuffer(cp, dev, y);
        assert_int_equal(clarg_set_global(fill, 0, x), 0);
        assert_int_equal(clSetKernelArg(fill, 0, sizeof buffer, &buffer), CL_SUCCESS);
        assert_int_equal(clSetKernelArg(fill, 1, sizeof value, &value), CL_SUCCESS);
        run_everywhere(fill, y, value);
    }
    works(clarg_set(fill, 1, 20)); /* and the other way round */
    run_everywhere(fill, y, 20);
    works(clfree(x));
    works(clfree(y));
}

static void test_set_kernel_arg_of_local_memory(void **state)
{
    (void)state;
    cl_kernel krn = args_kernel("local_sum");
    clndrange_t ndr = clndrange_init1d(0, 8, 8);
    assert_int_equal(clSetKernelArg(krn, 0, 8 * sizeof(int), NULL), CL_SUCCESS);
    assert_int_equal(clarg_set_global(krn, 1, out), 0);
    for (cl_uint dev = 0; dev < clgetndev(cp); dev++) {
        out[0] = 0;
        done(clfork(cp, dev, krn, &ndr, CL_EVENT_WAIT));
        done(clmsync(cp, dev, out, CL_MEM_HOST));
        assert_int_equal(out[0], 28);
    }
}

static void test_set_kernel_arg_refuses_bad_calls(void **state)
{
    (void)state;
    cl_kernel fill = basic_kernel(cp, "fill");
    const cl_short narrow = 1;
    const int value = 1;
    assert_int_equal(clSetKernelArg(fill, 1, sizeof narrow, &narrow), CL_INVALID_ARG_SIZE);
    contains(clerror(), "argument 1 of kernel fill");
    assert_int_equal(clSetKernelArg(fill, 7, sizeof value, &value), CL_INVALID_ARG_INDEX);
    assert_int_not_equal(clSetKernelArg(NULL, 0, sizeof value, &value),
                         CL_SUCCESS); /* OpenCL's own answer */
}

/* A buffer created by the program belongs to one device. */
static void test_set_kernel_arg_with_an_opencl_buffer(void **state)
{
    (void)state;
    cl_kernel fill = basic_kernel(cp, "fill");
    cl_int err = CL_SUCCESS, got[16], value = 23;
    cl_mem buffer =
        clCreateBuffer(clgetclcontext(cp, 0), CL_MEM_READ_WRITE, sizeof got, NULL, &err);
    clndrange_t ndr = clndrange_init1d(0, 16, 0);
    assert_int_equal(err, CL_SUCCESS);
    assert_int_equal(clSetKernelArg(fill, 0, sizeof buffer, &buffer), CL_SUCCESS);
    assert_int_equal(clSetKernelArg(fill, 1, sizeof value, &value), CL_SUCCESS);
    done(clfork(cp, 0, fill, &ndr, CL_EVENT_WAIT));
    assert_int_equal(
        clEnqueueReadBuffer(clgetqueue(cp, 0), buffer, CL_TRUE, 0, sizeof got, got, 0, NULL, NULL),
        CL_SUCCESS);
    assert_int_equal(got[15], 23);
    for (cl_uint dev = 1; dev < clgetndev(cp); dev++) {
        assert_ptr_equal(clfork(cp, dev, fill, &ndr, CL_EVENT_WAIT), NO_EVENT);
        contains(clerror(), "argument 0 of kernel fill is a cl_mem of another device");
    }
    clReleaseMemObject(buffer);
}

/* Kernels not made by clsym use OpenCL's rules. */
/* OpenCL's own launch of a kernel from clsym has the arguments set last, on every device. */
static void test_enqueue_kernel_uses_current_arguments(void **state)
{
    (void)state;
    const size_t items = 16;
    clndrange_t range = clndrange_init1d(0, 16, 0);
    cl_kernel fill = basic_kernel(cp, "fill");
    int *x = clmalloc(cp, items * sizeof *x, 0), *y = clmalloc(cp, items * sizeof *y, 0);
    ready(x);
    ready(y);
    for (cl_uint dev = 0; dev < clgetndev(cp); dev++) {
        cl_int err;
        cl_command_queue own =
            clCreateCommandQueue(clgetclcontext(cp, dev), clgetdevice(cp, dev), 0, &err);
        assert_int_equal(err, CL_SUCCESS);
        cl_command_queue queues[] = {clgetqueue(cp, dev), own};
        for (int q = 0; q < 2; q++) {
            const int before = 10 * (int)dev + q, after = 100 + before;
            done(clforka(cp, dev, fill, &range, CL_EVENT_WAIT, x, before));
            assert_int_equal(clarg_set_global(fill, 0, y), 0);
            works(clarg_set(fill, 1, after));
            assert_int_equal(
                clEnqueueNDRangeKernel(queues[q], fill, 1, NULL, &items, NULL, 0, NULL, NULL),
                CL_SUCCESS);
            clFinish(queues[q]);
            done(clmsync(cp, dev, x, CL_MEM_HOST));
            done(clmsync(cp, dev, y, CL_MEM_HOST | CL_MEM_NOFORCE));
            for (size_t i = 0; i < items; i++)
                assert_true(x[i] == before && y[i] == after);
        }
        clReleaseCommandQueue(own);
    }
    works(clfree(y));
    assert_int_equal(
        clEnqueueNDRangeKernel(clgetqueue(cp, 0), fill, 1, NULL, &items, NULL, 0, NULL, NULL),
        CL_INVALID_KERNEL_ARGS);
    contains(clerror(), "clEnqueueNDRangeKernel: argument 0 of kernel fill");
    works(clfree(x));
}

static void test_set_kernel_arg_of_other_kernels(void **state)
{
    (void)state;
    cl_kernel fill = basic_kernel(cp, "fill");
    cl_program p = NULL;
    cl_int err = CL_SUCCESS, value = 29, got[16];
    const size_t items = 16;
    assert_int_equal(clGetKernelInfo(fill, CL_KERNEL_PROGRAM, sizeof p, &p, NULL), CL_SUCCESS);
    cl_kernel own = clCreateKernel(p, "fill", &err);
    assert_int_equal(err, CL_SUCCESS);
    cl_mem buffer = clgetbuffer(cp, 0, out);
    assert_int_equal(clSetKernelArg(own, 0, sizeof buffer, &buffer), CL_SUCCESS);
    assert_int_equal(clSetKernelArg(own, 1, sizeof value, &value), CL_SUCCESS);
    assert_int_equal(
        clEnqueueNDRangeKernel(clgetqueue(cp, 0), own, 1, NULL, &items, NULL, 0, NULL, NULL),
        CL_SUCCESS);
    assert_int_equal(
        clEnqueueReadBuffer(clgetqueue(cp, 0), buffer, CL_TRUE, 0, sizeof got, got, 0, NULL, NULL),
        CL_SUCCESS);
    assert_int_equal(got[15], 29);
    clReleaseKernel(own);
}

/* ---- One kernel object on two devices. ---- */

static void test_one_kernel_on_two_devices(void **state)
{
    (void)state;
    cl_kernel add = basic_kernel(cp, "add");
    enum { N = 1000 };
    clndrange_t ndr = clndrange_init1d(0, N, 0);
    int *a = clmalloc(cp, N * sizeof *a, 0), *b = clmalloc(cp, N * sizeof *b, 0);
    ready(a);
    ready(b);
    for (int i = 0; i < N; i++) {
        a[i] = i;
        b[i] = 2 * i;
    }
    started(clmsync(cp, 0, a, CL_MEM_DEVICE | CL_EVENT_NOWAIT));
    started(clmsync(cp, 1, b, CL_MEM_DEVICE | CL_EVENT_NOWAIT));
    for (int round = 0; round < 50; round++) {
        clarg_set_global(cp, add, 0, a);
        clarg_set(cp, add, 1, 1);
        started(clfork(cp, 0, add, &ndr, CL_EVENT_NOWAIT));
        clarg_set_global(cp, add, 0, b);
        clarg_set(cp, add, 1, 1000);
        started(clfork(cp, 1, add, &ndr, CL_EVENT_NOWAIT));
    }
    started(clmsync(cp, 0, a, CL_MEM_HOST | CL_EVENT_NOWAIT));
    started(clmsync(cp, 1, b, CL_MEM_HOST | CL_EVENT_NOWAIT));
    done(clwait(cp, 0, CL_ALL_EVENT));
    done(clwait(cp, 1, CL_ALL_EVENT));
    for (int i = 0; i < N; i++) {
        assert_int_equal(a[i], i + 50);
        assert_int_equal(b[i], 2 * i + 50000);
    }
    clarg_set(add, 1, 7); /* one value for both, set once */
    started(clfork(cp, 1, add, &ndr, CL_EVENT_NOWAIT));
    clarg_set_global(add, 0, a);
    started(clfork(cp, 0, add, &ndr, CL_EVENT_NOWAIT));
    done(clmsync(cp, 0, a, CL_MEM_HOST));
    done(clmsync(cp, 1, b, CL_MEM_HOST));
    assert_int_equal(a[3], 60);
    assert_int_equal(b[3], 50013);
    works(clfree(a));
    works(clfree(b));
}

/* ---- Index spaces. ---- */

static void test_ndrange_macros(void **state)
{
    (void)state;
    clndrange_t n1 = clndrange_init1d(1, 2, 3), n2 = clndrange_init2d(1, 2, 3, 4, 5, 6);
    clndrange_t n3 = clndrange_init3d(1, 2, 3, 4, 5, 6, 7, 8, 9);
    clndrange_t n4 = clndrange_init4d(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12);
    clndrange_t s[4];
    memset(s, 0xff, sizeof s);
    clndrange_set1d(s[0], 1, 2, 3);
    clndrange_set2d(s[1], 1, 2, 3, 4, 5, 6);
    clndrange_set3d(s[2], 1, 2, 3, 4, 5, 6, 7, 8, 9);
    clndrange_set4d(s[3], 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12);
    const clndrange_t *given[] = {&n1, &n2, &n3, &n4};
    for (size_t d = 1; d <= 4; d++) {
        assert_memory_equal(given[d - 1], &s[d - 1], sizeof n1);
        assert_int_equal(given[d - 1]->dim, d);
        for (size_t k = 0; k < d; k++) {
            assert_int_equal(given[d - 1]->gtid_offset[k], 3 * k + 1);
            assert_int_equal(given[d - 1]->gtid[k], 3 * k + 2);
            assert_int_equal(given[d - 1]->ltid[k], 3 * k + 3);
        }
    }
    const clndrange_t whole[] = {clndrange_init1d(0, 7, 0), clndrange_init2d(0, 7, 0, 0, 8, 0),
                                 clndrange_init3d(0, 7, 0, 0, 8, 0, 0, 9, 0)};
    assert_memory_equal(clrange1(7), &whole[0], sizeof *whole);
    assert_memory_equal(clrange2(7, 8), &whole[1], sizeof *whole);
    assert_memory_equal(clrange3(7, 8, 9), &whole[2], sizeof *whole);
}

static void test_dimensions_and_offsets(void **state)
{
    (void)state;
    cl_kernel where = basic_kernel(cp, "where");
    static clndrange_t shapes[] = {
        clndrange_init1d(0, 12, 4),
        clndrange_init1d(5, 12, 0),
        clndrange_init2d(0, 8, 4, 0, 6, 2),
        clndrange_init2d(1, 8, 0, 3, 6, 0),
        clndrange_init3d(0, 4, 2, 0, 6, 3, 0, 2, 1),
        clndrange_init3d(3, 4, 4, 2, 6, 2, 1, 2, 2),
        clndrange_init3d(1, 3, 0, 1, 5, 0, 1, 7, 0),
    };
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
        for (cl_uint dev = 0; dev < clgetndev(cp); dev++) {
            const clndrange_t *n = &shapes[s];
            size_t nx = n->gtid[0], ny = n->dim > 1 ? n->gtid[1] : 1,
                   nz = n->dim > 2 ? n->gtid[2] : 1;
            memset(out, 0xff, OUT * sizeof *out);
            done(clmsync(cp, dev, out, CL_MEM_DEVICE));
            done(clforka(cp, dev, where, &shapes[s], CL_EVENT_WAIT, out));
            done(clmsync(cp, dev, out, CL_MEM_HOST));
            for (size_t z = 0; z < nz; z++)
                for (size_t y = 0; y < ny; y++)
                    for (size_t x = 0; x < nx; x++)
                        assert_int_equal(out[(z * ny + y) * nx + x],
                                         100 * (z + n->gtid_offset[2]) +
                                             10 * (y + n->gtid_offset[1]) + x + n->gtid_offset[0]);
            assert_int_equal(out[nx * ny * nz], -1);
        }
}

static void test_local_sizes_arrive(void **state)
{
    (void)state;
    cl_kernel groups = basic_kernel(cp, "groups");
    clndrange_t n1 = clndrange_init1d(0, 64, 16), n3 = clndrange_init3d(0, 8, 4, 0, 9, 3, 0, 10, 2);
    done(clforka(cp, 0, groups, &n1, CL_EVENT_WAIT, out));
    done(clmsync(cp, 0, out, CL_MEM_HOST));
    assert_int_equal(out[0], 10116);
    done(clforka(cp, 0, groups, &n3, CL_EVENT_WAIT, out));
    done(clmsync(cp, 0, out, CL_MEM_HOST));
    assert_int_equal(out[0], 20304);
}

static void test_bad_index_spaces(void **state)
{
    (void)state;
    cl_kernel fill = basic_kernel(cp, "fill");
    clndrange_t four = clndrange_init4d(0, 4, 0, 0, 4, 0, 0, 4, 0, 0, 4, 0);
    clndrange_t none = clndrange_init1d(0, 4, 0), five = none, uneven = clndrange_init1d(0, 10, 3);
    clndrange_t huge = clndrange_init1d(0, (size_t)1 << 30, (size_t)1 << 30);
    none.dim = 0;
    five.dim = 5;
    fails_event(EINVAL, clforka(cp, 0, fill, &four, CL_EVENT_WAIT, out, 1));
    fails_event(EINVAL, clforka(cp, 0, fill, &none, CL_EVENT_WAIT, out, 1));
    fails_event(EINVAL, clforka(cp, 0, fill, &five, CL_EVENT_WAIT, out, 1));
    fails_event(EINVAL, clforka(cp, 0, fill, &huge, CL_EVENT_WAIT, out, 1));
    fails_event(EINVAL, clforka(cp, 0, fill, &uneven, CL_EVENT_WAIT, out, 1));
    clndrange_t thousand = clndrange_init1d(0, 1000, 64);
    clforka(cp, 0, fill, &thousand, CL_EVENT_WAIT, out, 1);
    assert_int_equal(oclerrno, CL_INVALID_WORK_GROUP_SIZE);
    contains(clerror(),
             "the global size 1000 is not a multiple of the local size 64; the next that is: 1024");
    clndrange_t group = clndrange_init1d(0, 1 << 20, 1 << 20);
    clforka(cp, 0, fill, &group, CL_EVENT_WAIT, out, 1);
    contains(clerror(), "1048576");
    fails_event(EINVAL, clforka(cp, 0, fill, NULL, CL_EVENT_WAIT, out, 1));
    clndrange_t negative = clndrange_init2d(0, 100, 0, 0, (size_t)-1, 0),
                many = clndrange_init2d(0, (size_t)1 << 32, 0, 0, (size_t)1 << 31, 0);
    clforka(cp, 0, fill, &negative, CL_EVENT_WAIT, out, 1);
    contains(clerror(), "18446744073709551615 work-items in dimension 1 are too many");
    fails_event(EINVAL, clforka(cp, 0, fill, &many, CL_EVENT_WAIT, out, 1));
    clndrange_t before = clndrange_init1d((size_t)-1, 100, 0);
    clforka(cp, 0, fill, &before, CL_EVENT_WAIT, out, 1);
    contains(clerror(), "the offset 18446744073709551615 in dimension 0 is too large");
    char platform[256] = "";
    clndrange_t groups[] = {clndrange_init1d(0, (size_t)1 << 32, 1),
                            clndrange_init2d(0, 1 << 20, 16, 0, 1 << 20, 1),
                            clndrange_init1d(0, (size_t)1 << 60, 0)};
    assert_int_equal(
        clGetDeviceInfo(clgetdevice(cp, 0), CL_DEVICE_VERSION, sizeof platform, platform, NULL),
        CL_SUCCESS);
    for (size_t i = 0; pocl_version_in(platform) && i < 3; i++) {
        fails_event(EINVAL, clforka(cp, 0, fill, &groups[i], CL_EVENT_WAIT, out, 1));
        contains((clforka(cp, 0, fill, &groups[i], CL_EVENT_WAIT, out, 1), clerror()),
                 "work-groups are too many for one launch");
    }
}

static void test_required_group_size_is_named(void **state)
{
    (void)state;
    void *sized = clsopen(cp,
                          "kernel __attribute__((reqd_work_group_size(4, 2, 1))) void f("
                          "global int *x) { x[get_global_id(0)] = 1; }",
                          CLLD_NOW);
    cl_kernel f = clsym(cp, sized, "f", 0);
    clndrange_t wrong = clndrange_init2d(0, 8, 2, 0, 4, 2),
                right = clndrange_init2d(0, 8, 4, 0, 4, 2);
    ready(f);
    fails_event(EINVAL, clforka(cp, 0, f, &wrong, CL_EVENT_WAIT, out));
    assert_true(clforka(cp, 0, f, &wrong, CL_EVENT_WAIT, out) == NO_EVENT);
    contains(clerror(), "demands work-groups of 4 x 2 x 1 work-items (reqd_work_group_size)");
    done(clforka(cp, 0, f, &right, CL_EVENT_WAIT, out));
    works(clclose(cp, sized));
}

static void test_fork_refuses_bad_calls(void **state)
{
    (void)state;
    cl_kernel fill = basic_kernel(cp, "fill");
    fails_event(EINVAL, clforka(NULL, 0, fill, &one, CL_EVENT_WAIT, out, 1));
    fails_event(EINVAL, clforka(cp, clgetndev(cp), fill, &one, CL_EVENT_WAIT, out, 1));
    fails_event(EINVAL, clforka(cp, 0xffffffffu, fill, &one, CL_EVENT_WAIT, out, 1));
    fails_event(EINVAL, clforka(cp, 0, (cl_kernel)NULL, &one, CL_EVENT_WAIT, out, 1));
    fails_event(EINVAL, clfork(cp, 0, (cl_kernel)(void *)out, &one, CL_EVENT_WAIT));
    cl_device_id first = clgetdevice(cp, 0);
    CLCONTEXT *other = clcontext_create_from(&first, 1);
    ready(other);
    fails_event(ANY_ERROR, clforka(other, 0, fill, &one, CL_EVENT_WAIT, out, 1)); /* cp's kernel */
    works(clcontext_destroy(other));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_integers_by_value),
        cmocka_unit_test(test_floats_and_vectors_by_value),
        cmocka_unit_test(test_structures_by_value),
        cmocka_unit_test(test_doubles_by_value),
        cmocka_unit_test(test_arguments_are_evaluated_once),
        cmocka_unit_test(test_set_refuses_bad_calls),
        cmocka_unit_test(test_wrong_sizes_are_refused),
        cmocka_unit_test(test_arguments_are_compared_with_the_declaration),
        cmocka_unit_test(test_types_are_compared_with_the_declaration),
        cmocka_unit_test(test_pointers_to_vectors_are_compared),
        cmocka_unit_test(test_typedefs_and_macros_are_compared),
        cmocka_unit_test(test_types_of_included_files_are_compared),
        cmocka_unit_test(test_constant_memory),
        cmocka_unit_test(test_pointers_are_seen_as_they_are),
        cmocka_unit_test(test_global_binds_the_whole_block),
        cmocka_unit_test(test_many_offsets),
        cmocka_unit_test(test_many_pairs_of_offsets),
        cmocka_unit_test(test_global_offsets_of_devonly),
        cmocka_unit_test(test_pointers_before_the_whole),
        cmocka_unit_test(test_pointer_refuses_offsets_it_cannot_apply),
        cmocka_unit_test(test_global_refuses_unknown_pointers),
        cmocka_unit_test(test_null_as_memory),
        cmocka_unit_test(test_freed_block_as_argument),
        cmocka_unit_test(test_swapped_arguments_of_a_list_are_refused),
        cmocka_unit_test(test_every_argument_of_a_list_has_a_type),
        cmocka_unit_test(test_detached_block_as_argument),
        cmocka_unit_test(test_reallocated_block_as_argument),
        cmocka_unit_test(test_local_memory),
        cmocka_unit_test(test_too_much_local_memory),
        cmocka_unit_test(test_argument_never_set),
        cmocka_unit_test(test_forka_with_too_many_arguments),
        cmocka_unit_test(test_forka_without_arguments),
        cmocka_unit_test(test_forka_with_every_kind_of_argument),
        cmocka_unit_test(test_forka_with_pointers_of_every_type),
        cmocka_unit_test(test_forka_with_an_opencl_buffer),
        cmocka_unit_test(test_forka_with_63_arguments),
        cmocka_unit_test(test_forka_with_127_arguments),
        cmocka_unit_test(test_forka_sets_what_clfork_uses),
        cmocka_unit_test(test_forka_refuses_forgotten_arguments),
        cmocka_unit_test(test_arguments_may_change_after_the_start),
        cmocka_unit_test(test_set_kernel_arg_reaches_all_devices),
        cmocka_unit_test(test_set_kernel_arg_of_local_memory),
        cmocka_unit_test(test_set_kernel_arg_refuses_bad_calls),
        cmocka_unit_test(test_set_kernel_arg_with_an_opencl_buffer),
        cmocka_unit_test(test_enqueue_kernel_uses_current_arguments),
        cmocka_unit_test(test_set_kernel_arg_of_other_kernels),
        cmocka_unit_test(test_ndrange_macros),
        cmocka_unit_test(test_dimensions_and_offsets),
        cmocka_unit_test(test_local_sizes_arrive),
        cmocka_unit_test(test_bad_index_spaces),
        cmocka_unit_test(test_required_group_size_is_named),
        cmocka_unit_test(test_fork_refuses_bad_calls),
    };
    const struct CMUnitTest on_two[] = {
        cmocka_unit_test(test_one_kernel_on_two_devices),
    };
    int failed = cmocka_run_group_tests(tests, kernel_setup, kernel_teardown);
    if (clgetndev(stddev) > 1)
        failed += cmocka_run_group_tests(on_two, kernel_setup, kernel_teardown);
    return failed;
}
