/* test_layer_spirv.c - SPIR-V modules: refused by devices that take none, checked word by word, and
 * specialized.
 *
 * On a device without SPIR-V the calls of OpenCL 2.1 are replaced (--wrap in layer.cmake): the
 * module that arrives is compared with the one that was given, and a kernel with the specialized
 * value is built from source. A device with SPIR-V runs the module itself.
 * SPDX-License-Identifier: MIT
 */
#include "check.h"
#include "files.h"

/* kernel void answer(global int *p) { *p = c; } with specialization constants 3 (c, an int, 40), 4
 * (b, a bool) and 7 (w, a float), as spirv-as assembles it and spirv-val accepts it. */
/* clang-format off */
static const cl_uint module[] = {
    0x7230203, 0x10000, 0x70000, 0xd, 0x0,
    0x20011, 0x4, /* OpCapability Addresses */
    0x20011, 0x6, /* OpCapability Kernel */
    0x3000e, 0x2, 0x2, /* OpMemoryModel Physical64 OpenCL */
    0x5000f, 0x6, 0x1, 0x77736e61, 0x7265, /* OpEntryPoint Kernel %f "answer" */
    0x40047, 0x2, 0x1, 0x3, /* OpDecorate %c SpecId 3 */
    0x40047, 0x3, 0x1, 0x4, /* OpDecorate %b SpecId 4 */
    0x40047, 0x4, 0x1, 0x7, /* OpDecorate %w SpecId 7 */
    0x40015, 0x5, 0x20, 0x0, /* %int = OpTypeInt 32 0 */
    0x30016, 0x6, 0x20, /* %float = OpTypeFloat 32 */
    0x20014, 0x7, /* %bool = OpTypeBool */
    0x20013, 0x8, /* %void = OpTypeVoid */
    0x40020, 0x9, 0x5, 0x5, /* %ptr = OpTypePointer CrossWorkgroup %int */
    0x40021, 0xa, 0x8, 0x9, /* %type = OpTypeFunction %void %ptr */
    0x40032, 0x5, 0x2, 0x28, /* %c = OpSpecConstant %int 40 */
    0x40032, 0x6, 0x4, 0x3f800000, /* %w = OpSpecConstant %float 1 */
    0x30030, 0x7, 0x3, /* %b = OpSpecConstantTrue %bool */
    0x50036, 0x8, 0x1, 0x0, 0xa, /* %f = OpFunction %void None %type */
    0x30037, 0x9, 0xb, /* %p = OpFunctionParameter %ptr */
    0x200f8, 0xc, /* OpLabel */
    0x5003e, 0xb, 0x2, 0x2, 0x4, /* OpStore %p %c Aligned 4 */
    0x100fd, /* OpReturn */
    0x10038, /* OpFunctionEnd */
};

/* kernel void many(float a, uint b, double, float4, global float *, global float4 *, global struct
 * *, constant ulong *, local uchar *, struct, image2d_array_t, sampler_t) {}, of which the first
 * two have names, as spirv-as assembles it and spirv-val accepts it. */
static const cl_uint arguments[] = {
    0x7230203, 0x10000, 0x70000, 0x20, 0x0, 0x20011, 0x4, 0x20011, 0x6, 0x20011, 0xa,
    0x20011, 0xb, 0x20011, 0x27, 0x20011, 0x7, 0x20011, 0xd, 0x20011, 0x5, 0x3000e, 0x2, 0x2,
    0x5000f, 0x6, 0x1, 0x796e616d, 0x0, 0x30005, 0x2, 0x61, 0x30005, 0x3, 0x62,
    0x40005, 0x4, 0x64612e78, 0x7264, 0x20013, 0x5, 0x40015, 0x6, 0x8, 0x0,
    0x40015, 0x7, 0x20, 0x0, 0x40015, 0x8, 0x40, 0x0, 0x30016, 0x9, 0x20, 0x30016, 0xa, 0x40,
    0x40017, 0xb, 0x9, 0x4, 0x4001e, 0xc, 0x9, 0x7,
    0xa0019, 0xd, 0x5, 0x1, 0x0, 0x1, 0x0, 0x0, 0x0, 0x0, 0x2001a, 0xe, 0x40020, 0xf, 0x5, 0x9,
    0x40020, 0x10, 0x5, 0xb, 0x40020, 0x11, 0x5, 0xc, 0x40020, 0x12, 0x0, 0x8,
    0x40020, 0x13, 0x4, 0x6, 0x40020, 0x14, 0x7, 0xc,
    0xf0021, 0x15, 0x5, 0x9, 0x7, 0xa, 0xb, 0xf, 0x10, 0x11, 0x12, 0x13, 0x14, 0xd, 0xe,
    0x50036, 0x5, 0x1, 0x0, 0x15, 0x30037, 0x9, 0x2, 0x30037, 0x7, 0x3, 0x30037, 0xa, 0x16,
    0x30037, 0xb, 0x17, 0x30037, 0xf, 0x4, 0x30037, 0x10, 0x18, 0x30037, 0x11, 0x19,
    0x30037, 0x12, 0x1a, 0x30037, 0x13, 0x1b, 0x30037, 0x14, 0x1c, 0x30037, 0xd, 0x1d,
    0x30037, 0xe, 0x1e, 0x200f8, 0x1f, 0x100fd, 0x10038,
};
/* clang-format on */

static CLCONTEXT *cp;
static bool pretended; /* the device seems to take SPIR-V */

/* ---- The calls of OpenCL 2.1 and 2.2. ---- */

static struct {
    cl_uint constant, calls;
    unsigned char words[sizeof module];
    size_t size;
} arrived;

cl_int __real_clGetDeviceInfo(cl_device_id, cl_device_info, size_t, void *, size_t *);
cl_program __real_clCreateProgramWithIL(cl_context, const void *, size_t, cl_int *);
cl_int __real_clSetProgramSpecializationConstant(cl_program, cl_uint, size_t, const void *);
cl_int __wrap_clGetDeviceInfo(cl_device_id, cl_device_info, size_t, void *, size_t *);
cl_program __wrap_clCreateProgramWithIL(cl_context, const void *, size_t, cl_int *);
cl_int __wrap_clSetProgramSpecializationConstant(cl_program, cl_uint, size_t, const void *);

cl_int __wrap_clGetDeviceInfo(cl_device_id id, cl_device_info what, size_t room, void *value,
                              size_t *size)
{
    if (!pretended || what != CL_DEVICE_IL_VERSION)
        return __real_clGetDeviceInfo(id, what, room, value, size);
    snprintf(value, room, "SPIR-V_1.0 SPIR-V_1.2");
    return CL_SUCCESS;
}

cl_program __wrap_clCreateProgramWithIL(cl_context context, const void *words, size_t size,
                                        cl_int *err)
{
    const char *source =
        "struct s { float x; uint y; };\n"
        "kernel void answer(global int *p) { *p = 17; }\n"
        "kernel void many(float a, uint b, double c, float4 d, global float *x,\n"
        "  global float4 *y, global struct s *z, constant ulong *u,\n"
        "  local uchar *l, struct s v, read_only image2d_array_t i, sampler_t m) {}";
    if (!pretended)
        return __real_clCreateProgramWithIL(context, words, size, err);
    memcpy(arrived.words, words, size < sizeof module ? size : sizeof module);
    arrived.size = size;
    return clCreateProgramWithSource(context, 1, &source, NULL, err);
}

cl_int __wrap_clSetProgramSpecializationConstant(cl_program program, cl_uint id, size_t size,
                                                 const void *value)
{
    if (!pretended)
        return __real_clSetProgramSpecializationConstant(program, id, size, value);
    assert_int_equal(id, 3);
    assert_int_equal(size, 4);
    memcpy(&arrived.constant, value, 4);
    arrived.calls++;
    return CL_SUCCESS;
}

/* ---- Tests. ---- */

static int spirv_setup(void **state)
{
    cp = stddev;
    return setup_done(cp && files_create(state) == 0);
}

static bool every_device_takes_spirv(void)
{
    char versions[1024];
    bool all = true;
    for (cl_uint i = 0; i < clgetndev(cp); i++) {
        versions[0] = '\0';
        clGetDeviceInfo(clgetdevice(cp, i), CL_DEVICE_IL_VERSION, sizeof versions, versions, NULL);
        all = all && strstr(versions, "SPIR-V");
    }
    return all;
}

static int answer_of_module(void *program)
{
    clndrange_t one = clndrange_init1d(0, 1, 1);
    cl_kernel krn = clsym(cp, program, "answer", 0);
    int *out = clmalloc(cp, sizeof *out, 0);
    ready(krn);
    ready(out);
    done(clforka(cp, 0, krn, &one, CL_EVENT_WAIT, out));
    done(clmsync(cp, 0, out, CL_MEM_HOST));
    const int answer = *out;
    works(clfree(out));
    return answer;
}

static void *load_module(int flags)
{
    return clload(cp, (void *)(uintptr_t)module, sizeof module, flags);
}

static void test_spirv_on_the_devices(void **state)
{
    (void)state;
    put_bytes(in_folder("k.spv"), module, sizeof module);
    void *program = clopen(cp, in_folder("k.spv"), CLLD_NOW);
    if (!every_device_takes_spirv()) {
        assert_null(program);
        assert_int_equal(clerrno, ENOTSUP);
        contains(clerror(), "k.spv: this device takes no SPIR-V: ");
        fails_null(ENOTSUP, load_module(CLLD_NOW));
        return;
    }
    ready(program);
    assert_int_equal(answer_of_module(program), 40);
    works(clclose(cp, program));
}

static void test_spirv_arrives_with_constants(void **state)
{
    (void)state;
    const cl_int value = 41, first = 1;
    pretended = !every_device_takes_spirv();
    void *program = load_module(CLLD_NOBUILD);
    ready(program);
    works(clspec(cp, program, 3, sizeof first, &first));
    works(clspec(cp, program, 3, sizeof value, &value)); /* replaces the first value */
    works(clbuild(cp, program, NULL, 0));
    assert_int_equal(answer_of_module(program), pretended ? 17 : 41);
    fails(EINVAL, clspec(cp, program, 3, sizeof value, &value)); /* built */
    if (pretended) {
        assert_int_equal(arrived.size, sizeof module);
        assert_memory_equal(arrived.words, module, sizeof module);
        assert_int_equal(arrived.constant, 41);
        assert_int_equal(arrived.calls, clgetndev(cp));
    }
    works(clclose(cp, program));
    pretended = false;
}

/* The module itself tells the types of arguments, where the driver does not. */
static void test_arguments_are_checked(void **state)
{
    (void)state;
    static const clarg_info_t declared[] = {{STDCL_VALUE, "float", "a"},
                                            {STDCL_VALUE, "uint", "b"},
                                            {STDCL_VALUE, "double", ""},
                                            {STDCL_VALUE, "float4", ""},
                                            {STDCL_GLOBAL, "float*", ""},
                                            {STDCL_GLOBAL, "float4*", ""},
                                            {STDCL_GLOBAL, NULL, ""},
                                            {STDCL_GLOBAL, "ulong*", ""},
                                            {STDCL_LOCAL, "uchar*", ""},
                                            {STDCL_VALUE, "struct type", ""},
                                            {STDCL_GLOBAL, "image2d_array_t", ""},
                                            {STDCL_VALUE, "sampler_t", ""}};
    clarg_info_t info;
    pretended = !every_device_takes_spirv();
    setenv("STDCL_ARG_INFO", "source", 1);
    void *program = clload(cp, (void *)(uintptr_t)arguments, sizeof arguments, CLLD_NOW);
    ready(program);
    cl_kernel many = clsym(cp, program, "many", 0);
    ready(many);
    unsetenv("STDCL_ARG_INFO");
    for (cl_uint i = 0; i < sizeof declared / sizeof *declared; i++) {
        works(clarg_info(many, i, &info));
        assert_int_equal(info.kind, declared[i].kind);
        if (declared[i].type)
            assert_string_equal(info.type, declared[i].type);
        assert_string_equal(info.name, declared[i].name);
    }
    works(clarg_set(many, 0, 2.0f));
    fails(EINVAL, clarg_set(many, 0, 2.0));
    fails(EINVAL, clarg_set(many, 0, 2));
    works(clarg_set(many, 1, 2));
    works(clclose(cp, program));
    pretended = false;
}

static void test_spec_refuses_bad_calls(void **state)
{
    (void)state;
    const cl_double value = 1;
    void *program = load_module(CLLD_LAZY), *source = clsopen(cp, "kernel void f() {}", CLLD_LAZY);
    ready(program);
    ready(source);
    fails(ENOENT, clspec(cp, program, 5, 4, &value));
    fails(EINVAL, clspec(cp, program, 3, 8, &value));
    fails(EINVAL, clspec(cp, program, 4, 4, &value));
    assert_int_equal(clspec(cp, program, 7, 8, &value), -1);
    contains(clerror(), "constant 7 of source in memory has 4 bytes, 8 were given");
    fails(EINVAL, clspec(cp, program, 3, 4, NULL));
    fails(EINVAL, clspec(cp, source, 3, 4, &value));
    fails(EINVAL, clspec(cp, NULL, 3, 4, &value));
    works(clspec(cp, program, 4, 1, &value));
    works(clspec(cp, program, 7, 4, &value));
    works(clclose(cp, program));
    works(clclose(cp, source));
}

/* Each length but the whole one ends within an instruction, or leaves none. */
static void test_damaged_spirv_is_refused(void **state)
{
    (void)state;
    unsigned char bytes[sizeof module];
    const size_t sizes[] = {4, 8, 20, 21, 24, sizeof module - 1, sizeof module - 3};
    memcpy(bytes, module, sizeof module);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        fails_null(ENOEXEC, clload(cp, bytes, sizes[i], CLLD_LAZY));
    bytes[22] = bytes[23] = 0; /* an instruction of no words */
    fails_null(ENOEXEC, clload(cp, bytes, sizeof bytes, CLLD_LAZY));
    bytes[22] = 200; /* beyond the end */
    assert_null(clload(cp, bytes, sizeof bytes, CLLD_LAZY));
    contains(clerror(), "is damaged SPIR-V");
    const unsigned char swapped[] = {7, 0x23, 2, 3, 0, 1, 0, 0};
    assert_null(clload(cp, (void *)(uintptr_t)swapped, sizeof swapped, CLLD_LAZY));
    contains(clerror(), "byte order of another machine");
    put_text(in_folder("text.spv"), "kernel void f() {}");
    assert_null(clopen(cp, in_folder("text.spv"), CLLD_LAZY));
    contains(clerror(), "text.spv is no SPIR-V");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spirv_on_the_devices),
        cmocka_unit_test(test_spirv_arrives_with_constants),
        cmocka_unit_test(test_arguments_are_checked),
        cmocka_unit_test(test_spec_refuses_bad_calls),
        cmocka_unit_test(test_damaged_spirv_is_refused),
    };
    return cmocka_run_group_tests(tests, spirv_setup, files_remove);
}
