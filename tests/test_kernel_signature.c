/* Kernel declarations, as core/kernel_signature.c parses them: compared with the compiler's
 * argument info where available, and with declarations that must stay unknown.
 * SPDX-License-Identifier: MIT
 */
#include "core/kernel.h"

#include "check.h"

static CLCONTEXT *cp;

static const char *kind_name(enum arg_kind kind)
{
    return kind == ARG_VALUE    ? "value"
           : kind == ARG_GLOBAL ? "global"
           : kind == ARG_LOCAL  ? "local"
                                : "unknown";
}

/* Return "global float* x, value uint n", or "-" if there is no such kernel of n arguments. */
static const char *read_from(const char *source, const char *options, const char *name, cl_uint n)
{
    static char text[8192];
    struct parameter p[64] = {{0}};
    if (!signature_parse(source, options, name, n, p))
        return "-";
    FILE *fp = fmemopen(text, sizeof text, "w");
    for (cl_uint i = 0; i < n; i++)
        fprintf(fp, "%s%s %s %s", i ? ", " : "", kind_name(p[i].kind), p[i].type, p[i].name);
    fputc('\0', fp);
    fclose(fp);
    return text;
}

static void reads(const char *source, cl_uint n, const char *wanted)
{
    const char *got = read_from(source, NULL, "f", n);
    if (strcmp(got, wanted))
        fail_msg("%s: gives '%s', not '%s'", source, got, wanted);
}

/* ---- Compared with the compiler. ---- */

/* True if the types agree. The compiler's type may be the expansion of a macro in these sources. */
static bool same_type(const char *read, const char *told)
{
    return strcmp(read, told) == 0 || (read[0] >= 'A' && read[0] <= 'Z');
}

/* Compare each kernel of a program: all that is parsed must equal the platform's info; `all`:
 * nothing may be missing. */
static void same_as_the_platform(const char *file, const char *source, const char *options,
                                 bool all)
{
    void *handle = clsopen(cp, source, CLLD_NOBUILD);
    ready(handle);
    works(clbuild(cp, handle, (char *)(uintptr_t)options, 0));
    const struct program *program = handle;
    char names[4096] = "";
    clGetProgramInfo(program->part[0].program[0], CL_PROGRAM_KERNEL_NAMES, sizeof names, names,
                     NULL);
    for (char *save, *name = strtok_r(names, ";", &save); name; name = strtok_r(NULL, ";", &save)) {
        cl_kernel krn = clsym(cp, handle, name, 0);
        ready(krn);
        cl_uint n = 0;
        clGetKernelInfo(krn, CL_KERNEL_NUM_ARGS, sizeof n, &n, NULL);
        struct parameter p[64] = {{0}};
        const bool found = signature_parse(source, options, name, n, p);
        if (all && !found)
            fail_msg("%s: no declaration of %s was found", file, name);
        for (cl_uint i = 0; i < n; i++) {
            clarg_info_t told;
            works(clarg_info(krn, i, &told));
            const enum arg_kind kind = told.kind == STDCL_VALUE    ? ARG_VALUE
                                       : told.kind == STDCL_GLOBAL ? ARG_GLOBAL
                                                                   : ARG_LOCAL;
            if (told.kind == -1)
                skip(); /* this platform has no argument info */
            if ((all || p[i].kind != ARG_UNSET) &&
                (p[i].kind != kind || !same_type(p[i].type, told.type) ||
                 strcmp(p[i].name, told.name)))
                fail_msg("%s: %s, argument %u: %s %s %s, but the compiler says %s %s %s", file,
                         name, i, kind_name(p[i].kind), p[i].type, p[i].name, kind_name(kind),
                         told.type, told.name);
            /* The parser may know less: whether an argument is never written. */
            if (p[i].read_only && p[i].kind == ARG_GLOBAL)
                assert_int_equal(clarg_is_read_only(krn, i), 1);
        }
    }
    works(clclose(cp, handle));
}

static const char forms[] =
    "struct pair { int a; float b[2]; };\n"
    "// kernel void plain(float wrong, float wrong) { }\n"
    "/* kernel void plain(float wrong, float wrong) { } */\n"
    "constant char text[] = \"kernel void plain(float wrong, float wrong) { \\\" }\";\n"
    "kernel void plain(global float *x, float f) { *x = f; }\n"
    "__kernel void older(__global int *restrict x, __constant float4* c, __local uchar *l, __private long n)\n"
    "{ *x = *l + (int)n + (int)c->x; }\n"
    "kernel __attribute__((reqd_work_group_size(1, 1, 1))) void attributes(volatile global uint *const x,\n"
    "    const global float * __restrict y, global const short2 *z) { *x = *y + z->x; }\n"
    "kernel void integers(global long *x, char a, uchar b, short c, ushort d, int e, uint f, long g, ulong h)\n"
    "{ *x = a + b + c + d + e + f + g + h; }\n"
    "kernel void signs(global unsigned char *x, unsigned a, unsigned int b, unsigned long c, unsigned short d,\n"
    "                  global unsigned *y) { *x = a + b + c + d + *y; }\n"
    "kernel void vectors(global float3 *x, float2 a, const int4 b, uchar16 c, double8 d)\n"
    "{ *x = a.x + b.x + c.s0 + d.s0; }\n"
    "kernel void whole(struct pair p, global struct pair *q, local struct pair *r) { *r = p; *q = *r; }\n"
    "kernel void arrays(global int x[], local float y[16]) { x[0] = y[0]; }\n"
    "kernel void images(read_only image2d_t i, sampler_t s, write_only image2d_t o)\n"
    "{ write_imagef(o, (int2)(0), read_imagef(i, s, (int2)(0))); }\n"
    "kernel\nvoid\nspread(\n  global // memory\n  float\n  *x,\n  /* a , ) */ int\n  n\n)\n{ *x = n; }\n"
    "kernel void prototype(global int *, float);\n"
    "kernel void prototype(global int *x, float f) { *x = f; }\n"
    "void kernel turned(int const n, float global *x) { *x = n; }\n"
    "kernel void nothing() { }\n"
    "kernel void nothing_at_all(void) { }\n";

static void signature_forms_match_platform(void **state)
{
    (void)state;
    same_as_the_platform("forms", forms, NULL, true);
}

static void signature_shipped_kernels_match_platform(void **state)
{
    (void)state;
    static const char *const files[] = {"kernels/basic.cl", "../gas/fused.cl", "../arrays/sum.cl",
                                        "../gas/draw.cl", "../profile/peak.cl"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char source[1 << 17];
        FILE *fp = fopen(files[i], "r");
        ready(fp);
        source[fread(source, 1, sizeof source - 1, fp)] = '\0';
        fclose(fp);
        same_as_the_platform(files[i], source, "-I ../gas -I ../arrays", false);
    }
}

/* ---- What is not the compiler's to tell. ---- */

static void signature_reads_parameter_lists(void **state)
{
    (void)state;
    reads("kernel void f(global float *x, float a) { }", 2, "global float* x, value float a");
    reads("kernel void f(global float *x, float a) { }", 3, "-");
    reads("kernel void f(global float *x, float a) { }", 1, "-");
    reads("kernel void g(global float *x, float a) { }", 2, "-");
    reads("void f(global float *x, float a) { }", 2, "-");
    reads("kernel void f() { }", 0, "");
    reads("kernel void f(void) { }", 0, "");
    reads("kernel void ff(int a) { } kernel void f(float a) { }", 1, "value float a");
    reads("kernel ATTRIBUTES(64) void f(float a) { }", 1, "value float a");
    reads("kernel void f(float a, global int *b", 2, "value float a, global int* b"); /* cut off */
    reads("kernel void f(", 1, "-");
    reads("kernel", 1, "-");
    reads("", 0, "-");
    reads("kernel void f(int a /*", 1, "value int a");
}

static void signature_macros_and_types_stay_unknown(void **state)
{
    (void)state;
    reads("kernel void f(REAL a, global REAL *x, local REAL *l)", 3,
          "unknown REAL a, global REAL* x, local REAL* l");
    reads("kernel void f(FLOATS x, global FLOATS y, IMAGE)", 3,
          "unknown FLOATS x, unknown FLOATS y, unknown IMAGE ");
    reads("#define n x, int y\nkernel void f(int n)", 2, "-");
    reads("kernel void f(int a MORE, global int *b MORE)", 2, "unknown int MORE, global int* MORE");
    reads("kernel void f(float *x, private int *y, global int z)", 3,
          "unknown float* x, unknown int* y, unknown int z");
    reads("kernel void f(global int (*x)[4], int (*y)(int))", 2, "unknown int* , unknown int ");
    reads("kernel void f(float7 a, long long b, unsigned float c)", 3,
          "unknown float7 a, unknown long b, unknown ufloat c");
    reads("#define real(x) x\nkernel void f(real a)", 1, "unknown real a");
    reads("typedef float real; typedef double real;\nkernel void f(real a)", 1, "unknown real a");
    reads("#ifdef __OPENCL_VERSION__\ntypedef float real;\n#else\ntypedef double real;\n#endif\n"
          "kernel void f(real a)",
          1, "unknown real a");
    reads("#include \"real.h\"\n#ifdef USE_DOUBLE\ntypedef double real;\n#else\n"
          "typedef float real;\n#endif\nkernel void f(real a)",
          1, "unknown real a");
    reads("typedef float real[4]; typedef real (*real_function)(real);\nkernel void f(real a)", 1,
          "unknown real a");
    reads("#define a b\n#define b a\nkernel void f(a x)", 1, "unknown a x");
}

static void signature_resolves_typedefs_and_macros(void **state)
{
    (void)state;
    reads("typedef float real;\nkernel void f(real a, global const real *x)", 2,
          "value float a, global float* x");
    reads("typedef float real; typedef real number;\n#define NUMBER number\n"
          "kernel void f(NUMBER a, global NUMBER *x, local number *l)",
          3, "value float a, global float* x, local float* l");
    reads("#define double float\nkernel void f(double a, float b)", 2,
          "value float a, value float b");
    reads("typedef unsigned int u32; typedef float4 vec; typedef global vec *vecs;\n"
          "kernel void f(u32 n, vec v, vecs x)",
          3, "value uint n, value float4 v, global float4* x");
    reads("#define IN const global\n#define FLOATS global float *\n"
          "kernel void f(IN int *a, FLOATS b)",
          2, "global int* a, global float* b");
    reads("typedef struct { float x, y; } body; typedef struct cell { int n; } cell_t;\n"
          "kernel void f(body b, cell_t c, global body *x)",
          3, "value struct body b, value struct cell c, global struct body* x");
    static const char choice[] = "#ifdef USE_DOUBLE\ntypedef double real;\n#else\n"
                                 "typedef float real;\n#endif\nkernel void f(real a, int b)";
    assert_string_equal(read_from(choice, NULL, "f", 2), "value float a, value int b");
    assert_string_equal(read_from(choice, "-D USE_DOUBLE", "f", 2), "value double a, value int b");
    assert_string_equal(read_from(choice, "-DUSE_DOUBLE=1 -w", "f", 2),
                        "value double a, value int b");
    static const char number[] = "#ifndef BITS\n#define BITS 32 // default\n#endif\n"
                                 "#if BITS == 64\n#define REAL double\n#elif BITS == 32\n"
                                 "#define REAL float\n#else\n#define REAL half\n#endif\n"
                                 "kernel void f(REAL a)";
    assert_string_equal(read_from(number, NULL, "f", 1), "value float a");
    assert_string_equal(read_from(number, "-D BITS=64", "f", 1), "value double a");
    assert_string_equal(read_from("kernel void f(float a, int b)", "-D X=1 -Dfloat=double", "f", 2),
                        "value double a, value int b");
    assert_string_equal(
        read_from("kernel void f(REAL a, int b)", "-D REAL=double -D integer=1", "f", 2),
        "value double a, value int b");
}

static void signature_conditional_parameters_stay_unknown(void **state)
{
    (void)state;
    reads(
        "#if A\nkernel void f(global int *x, int a) { }\n#else\nkernel void f(global int *x, long a) { }\n#endif",
        2, "global int* x, unknown int a");
    reads("#if A\nkernel void f(int a) { }\n#else\nkernel void f(int a, int b) { }\n#endif", 2,
          "value int a, value int b");
    reads("kernel void f(int a,\n#if A\nint b\n#else\nfloat b\n#endif\n) { }", 2,
          "unknown int a, unknown float b");
    reads("#define K kernel void f(int a, \\\n int b)\nkernel void f(float a, float b) { }", 2,
          "value float a, value float b");
    reads(
        "  /* here */ # define K /* over \n lines */ kernel void f(int a)\nkernel void f(float a)",
        1, "value float a");
}

/* Arbitrary bytes: the parser ends and reads nothing out of bounds (AddressSanitizer checks). */
static void signature_reader_survives_garbage(void **state)
{
    (void)state;
    static const char *const bits[] = {
        "kernel ", "void ", "f", "(",  ")",  ",",  "*",    "[",       "]",       "#define ",  "\n",
        "\\",      "\"",    "'", "/*", "*/", "//", "int ", "global ", "struct ", "unsigned ", "\r"};
    uint32_t seed = 1;
    for (int round = 0; round < 20000; round++) {
        char *source = calloc(1, 256);
        size_t n = 0;
        snprintf(source, 256, "kernel void f(");
        for (int i = 0; i < 16; i++) {
            seed = seed * 1664525u + 1013904223u;
            n = strlen(source);
            snprintf(source + n, 256 - n, "%s", bits[(seed >> 16) % (sizeof bits / sizeof *bits)]);
        }
        char *exact = strdup(source);
        (void)read_from(exact, exact, "f", seed >> 28 & 7);
        free(exact);
        free(source);
    }
}

/* ---- The public call. ---- */

static void signature_is_reported_by_clarg_info(void **state)
{
    (void)state;
    void *handle = clsopen(
        cp, "kernel void f(global float4 *position, uint n, local int *sums) { }", CLLD_NOW);
    cl_kernel f = clsym(cp, handle, "f", 0);
    ready(f);
    static const struct {
        int kind;
        const char *type, *name;
    } wanted[] = {{STDCL_GLOBAL, "float4*", "position"},
                  {STDCL_VALUE, "uint", "n"},
                  {STDCL_LOCAL, "int*", "sums"}};
    clarg_info_t info;
    for (cl_uint i = 0; i < 3; i++) {
        works(clarg_info(f, i, &info));
        assert_int_equal(info.kind, wanted[i].kind);
        assert_string_equal(info.type, wanted[i].type);
        assert_string_equal(info.name, wanted[i].name);
    }
    fails(EINVAL, clarg_info(f, 3, &info));
    fails(EINVAL, clarg_info(NULL, 0, &info));
    fails(EINVAL, clarg_info(f, 0, NULL));
    works(clclose(cp, handle));
}

/* Arguments whose memory a kernel only reads, as the platform reports them and from the source. */
static void signature_knows_what_is_only_read(void **state)
{
    (void)state;
    const char *source =
        "typedef global float *pointer;\n"
        "typedef const float fixed;\n"
        "kernel void f(global const float *a, global float const *b, constant float *c,\n"
        "              global fixed *d, read_only image2d_t e, image2d_t f,\n"
        "              global float *g, global float *const h, const pointer i,\n"
        "              write_only image2d_t j, const int k, local const float *l) { }\n";
    enum { READS = 6, ALL = 12 };
    struct parameter p[ALL] = {{0}};
    assert_true(signature_parse(source, NULL, "f", ALL, p));
    void *handle = clsopen(cp, source, CLLD_NOW);
    cl_kernel f = clsym(cp, handle, "f", 0);
    ready(f);
    for (cl_uint i = 0; i < ALL; i++) {
        assert_int_equal(p[i].kind == ARG_GLOBAL && p[i].read_only, i < READS);
        assert_int_equal(clarg_is_read_only(f, i), i < READS);
    }
    fails(EINVAL, clarg_is_read_only(f, ALL));
    fails(EINVAL, clarg_is_read_only(NULL, 0));
    works(clclose(cp, handle));
}

static int signature_open_context(void **state)
{
    (void)state;
    cp = clcontext_create(NULL, (int)CL_DEVICE_TYPE_ALL, 0, NULL, 0);
    return setup_done(cp);
}

static int signature_close_context(void **state)
{
    (void)state;
    return clcontext_destroy(cp);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(signature_forms_match_platform),
        cmocka_unit_test(signature_shipped_kernels_match_platform),
        cmocka_unit_test(signature_reads_parameter_lists),
        cmocka_unit_test(signature_macros_and_types_stay_unknown),
        cmocka_unit_test(signature_resolves_typedefs_and_macros),
        cmocka_unit_test(signature_conditional_parameters_stay_unknown),
        cmocka_unit_test(signature_reader_survives_garbage),
        cmocka_unit_test(signature_is_reported_by_clarg_info),
        cmocka_unit_test(signature_knows_what_is_only_read),
    };
    return cmocka_run_group_tests(tests, signature_open_context, signature_close_context);
}
