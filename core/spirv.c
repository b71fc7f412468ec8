/* spirv.c - SPIR-V modules: recognised, checked word by word, created with their specialization
 * constants, and read for the declarations of their kernels.
 *
 * A module is a header of five words, then instructions: one word of opcode and length, then
 * operands (SPIR-V Specification, 2.3). Instructions that do not add up to the module's size are a
 * damaged file, on which drivers crash. A constant that clspec may set is a scalar decorated with
 * SpecId.
 * SPDX-License-Identifier: MIT
 */
#include "core/program.h"

enum { MAGIC = 0x07230203, SWAPPED_MAGIC = 0x03022307, HEADER_WORDS = 5 };

enum opcode {
    OP_NAME = 5,
    OP_ENTRY_POINT = 15,
    OP_TYPE_VOID = 19, /* the first of the types */
    OP_TYPE_INT = 21,
    OP_TYPE_FLOAT = 22,
    OP_TYPE_VECTOR = 23,
    OP_TYPE_IMAGE = 25,
    OP_TYPE_SAMPLER = 26,
    OP_TYPE_STRUCT = 30,
    OP_TYPE_POINTER = 32,
    OP_TYPE_FORWARD_POINTER = 39, /* the last of the types */
    OP_FUNCTION = 54,
    OP_FUNCTION_PARAMETER = 55,
    OP_FUNCTION_END = 56,
    OP_SPEC_CONSTANT_TRUE = 48,
    OP_SPEC_CONSTANT_FALSE = 49,
    OP_SPEC_CONSTANT = 50,
    OP_DECORATE = 71,
};
enum { DECORATION_SPEC_ID = 1 };
enum storage { UNIFORM_CONSTANT = 0, WORKGROUP = 4, CROSS_WORKGROUP = 5, FUNCTION = 7 };

static uint32_t word_at(const unsigned char *data, size_t i)
{
    uint32_t word;
    memcpy(&word, data + 4 * i, sizeof word);
    return word;
}

bool spirv_begins(const void *data, size_t size)
{
    const uint32_t first = size >= 4 ? word_at(data, 0) : 0;
    return first == MAGIC || first == SWAPPED_MAGIC;
}

/* An instruction: its opcode and its words. The first word holds the opcode, too. */
struct instruction {
    unsigned op;
    size_t words;
    const unsigned char *at;
};

/* Read the instruction at word *i and advance; false at the end, or if none fits there. */
static bool next_instruction(const unsigned char *data, size_t size, size_t *i,
                             struct instruction *in)
{
    const size_t left = size / 4 - *i;
    if (left == 0)
        return false;
    const uint32_t first = word_at(data, *i);
    *in = (struct instruction){first & 0xffff, first >> 16, data + 4 * *i};
    if (in->words == 0 || in->words > left)
        return false;
    *i += in->words;
    return true;
}

int spirv_check(const void *data, size_t size, const char *name, const char *call)
{
    struct instruction in;
    size_t i = HEADER_WORDS;
    if (spirv_begins(data, size) && word_at(data, 0) == SWAPPED_MAGIC)
        return fail(
            ENOEXEC, 0,
            "%s: %s is SPIR-V in the byte order of another machine; compile it for this one", call,
            name);
    if (spirv_begins(data, size) && size >= 4 * HEADER_WORDS && size % 4 == 0) {
        while (next_instruction(data, size, &i, &in))
            ;
        if (i == size / 4 && i > HEADER_WORDS)
            return 0;
    }
    return fail(ENOEXEC, 0, "%s: %s is damaged SPIR-V: its %zu bytes are no whole instructions",
                call, name, size);
}

/* ---- Specialization constants. ---- */

/* Find the instruction with one of two opcodes whose word `at` has this value; more than `at` words
 * long. */
static bool find_instruction(const struct part *p, enum opcode a, enum opcode b, size_t at,
                             uint32_t value, struct instruction *in)
{
    size_t i = HEADER_WORDS;
    while (next_instruction(p->binary[0], p->binary_size[0], &i, in))
        if ((in->op == a || in->op == b) && in->words > at && word_at(in->at, at) == value)
            return true;
    return false;
}

/* Find the result whose decoration is SpecId `id`. */
static bool find_spec_target(const struct part *p, uint32_t id, uint32_t *target)
{
    struct instruction in;
    size_t i = HEADER_WORDS;
    while (next_instruction(p->binary[0], p->binary_size[0], &i, &in))
        if (in.op == OP_DECORATE && in.words == 4 && word_at(in.at, 2) == DECORATION_SPEC_ID &&
            word_at(in.at, 3) == id) {
            *target = word_at(in.at, 1);
            return true;
        }
    return false;
}

size_t spirv_constant_size(const struct part *p, cl_uint id)
{
    struct instruction constant, type;
    uint32_t target;
    if (!find_spec_target(p, id, &target))
        return 0;
    if (find_instruction(p, OP_SPEC_CONSTANT_TRUE, OP_SPEC_CONSTANT_FALSE, 2, target, &constant))
        return 1;
    if (!find_instruction(p, OP_SPEC_CONSTANT, OP_SPEC_CONSTANT, 2, target, &constant) ||
        !find_instruction(p, OP_TYPE_INT, OP_TYPE_FLOAT, 1, word_at(constant.at, 1), &type) ||
        type.words < 3)
        return 0;
    const size_t bytes = word_at(type.at, 2) / 8;
    return bytes <= sizeof p->spec->value ? bytes : 0;
}

/* ---- Declarations of kernels. ---- */

/* Find the type of an id. */
static bool find_type(const struct part *p, uint32_t id, struct instruction *in)
{
    size_t i = HEADER_WORDS;
    while (next_instruction(p->binary[0], p->binary_size[0], &i, in))
        if (in->op >= OP_TYPE_VOID && in->op <= OP_TYPE_FORWARD_POINTER && in->words > 1 &&
            word_at(in->at, 1) == id)
            return true;
    return false;
}

/* The text that begins at a word of an instruction; "" if it does not end there. */
static const char *text_of(const struct instruction *in, size_t word)
{
    const char *text = (const char *)in->at + 4 * word;
    const size_t room = in->words > word ? 4 * (in->words - word) : 0;
    return room && memchr(text, '\0', room) ? text : "";
}

/* OpenCL's name of a number type; NULL for another type. Modules do not tell signed integers from
 * unsigned ones. */
static const char *number_name(const struct instruction *type)
{
    static const char *const integers[] = {"uchar", "ushort", "uint", "ulong"}, *const floats[] = {
                                                                                    "void", "half",
                                                                                    "float",
                                                                                    "double"};
    if ((type->op != OP_TYPE_INT && type->op != OP_TYPE_FLOAT) || type->words < 3)
        return NULL;
    for (int i = 0; i < 4; i++)
        if (word_at(type->at, 2) == 8u << i)
            return type->op == OP_TYPE_INT ? integers[i] : floats[i];
    return NULL;
}

/* Write the type of a pointer's target; void if it is no number, vector or struct. */
static void write_pointee(FILE *fp, const struct part *p, uint32_t id)
{
    struct instruction type, element;
    const char *name = find_type(p, id, &type) ? number_name(&type) : NULL;
    if (name)
        fputs(name, fp);
    else if (type.op == OP_TYPE_VECTOR && type.words > 3 &&
             find_type(p, word_at(type.at, 2), &element) && (name = number_name(&element)) != NULL)
        fprintf(fp, "%s%u", name, word_at(type.at, 3));
    else
        fputs(type.op == OP_TYPE_STRUCT ? "struct type" : "void", fp);
}

static void write_image(FILE *fp, const struct instruction *type)
{
    static const char *const names[] = {"image1d", "image2d", "image3d"};
    const uint32_t dimension = type->words > 5 ? word_at(type->at, 3) : 3;
    if (dimension < 3)
        fprintf(fp, "%s%s_t", names[dimension], word_at(type->at, 5) ? "_array" : "");
    else
        fputs(dimension == 5 ? "image1d_buffer_t" : "unknown", fp);
}

static void write_parameter_type(FILE *fp, const struct part *p, uint32_t id)
{
    struct instruction type;
    if (!find_type(p, id, &type))
        fputs("unknown", fp);
    else if (type.op == OP_TYPE_IMAGE)
        write_image(fp, &type);
    else if (type.op == OP_TYPE_SAMPLER)
        fputs("sampler_t", fp);
    else if (type.op != OP_TYPE_POINTER || type.words < 4)
        write_pointee(fp, p, id);
    else if (word_at(type.at, 2) == FUNCTION)
        fputs("struct type", fp); /* by value */
    else {
        fputs(word_at(type.at, 2) == WORKGROUP          ? "local "
              : word_at(type.at, 2) == UNIFORM_CONSTANT ? "constant "
                                                        : "global ",
              fp);
        write_pointee(fp, p, word_at(type.at, 3));
        fputs(" *", fp);
    }
}

/* Write the name of an id, if it is one in OpenCL C too. */
static void write_name(FILE *fp, const struct part *p, uint32_t id)
{
    struct instruction in;
    if (!find_instruction(p, OP_NAME, OP_NAME, 1, id, &in))
        return;
    const char *name = text_of(&in, 2);
    const size_t length = strlen(name);
    if (length && !strchr("0123456789", *name) &&
        strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == length)
        fprintf(fp, " %s", name);
}

/* Write the parameters of a function. */
static void write_parameters(FILE *fp, const struct part *p, uint32_t function)
{
    struct instruction in;
    const char *separator = "";
    bool inside = false;
    size_t i = HEADER_WORDS;
    while (next_instruction(p->binary[0], p->binary_size[0], &i, &in)) {
        if (in.op == OP_FUNCTION && in.words > 2)
            inside = word_at(in.at, 2) == function;
        if (inside && in.op == OP_FUNCTION_END)
            return;
        if (!inside || in.op != OP_FUNCTION_PARAMETER || in.words < 3)
            continue;
        fputs(separator, fp);
        write_parameter_type(fp, p, word_at(in.at, 1));
        write_name(fp, p, word_at(in.at, 2));
        separator = ", ";
    }
}

char *spirv_declarations(const struct part *p)
{
    char *text = NULL;
    size_t size, i = HEADER_WORDS;
    struct instruction in;
    FILE *fp = open_memstream(&text, &size);
    while (fp && next_instruction(p->binary[0], p->binary_size[0], &i, &in)) {
        if (in.op != OP_ENTRY_POINT || in.words < 4)
            continue;
        fprintf(fp, "kernel void %s(", text_of(&in, 3));
        write_parameters(fp, p, word_at(in.at, 2));
        fputs(");\n", fp);
    }
    if (fp)
        fclose(fp);
    return text;
}

/* ---- Programs. ---- */

/* True if the device compiles SPIR-V: OpenCL 2.1 and newer devices name the versions. */
static bool takes_spirv(const struct device *d)
{
    char versions[1024] = "";
    return clGetDeviceInfo(d->id, CL_DEVICE_IL_VERSION, sizeof versions, versions, NULL) ==
               CL_SUCCESS &&
           strstr(versions, "SPIR-V") != NULL;
}

cl_program spirv_program(const struct part *p, const struct device *d, cl_int *err)
{
    *err = CL_INVALID_OPERATION;
    cl_program program =
        takes_spirv(d) ? clCreateProgramWithIL(d->context, p->binary[0], p->binary_size[0], err)
                       : NULL;
    for (size_t i = 0; program && i < p->nspecs && *err == CL_SUCCESS; i++)
        *err = clSetProgramSpecializationConstant(program, p->spec[i].id, p->spec[i].size,
                                                  p->spec[i].value);
    if (program && *err != CL_SUCCESS) {
        clReleaseProgram(program);
        program = NULL;
    }
    return program;
}

int spirv_failed(const struct part *p, const struct device *d, cl_int err, const char *call)
{
    if (!takes_spirv(d))
        return fail(ENOTSUP, err,
                    "%s: %s: this device takes no SPIR-V: %s; compile OpenCL C for it instead",
                    call, p->name, d->name);
    return fail(ENOEXEC, err, "%s: %s: %s takes no such SPIR-V", call, p->name, d->name);
}
