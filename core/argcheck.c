/* argcheck.c - checks arguments against the kernel's declaration, where that is known.
 *
 * Programs are built with -cl-kernel-arg-info, and the information is queried once per kernel.
 * Where a platform has none, the source is parsed (kernel_signature.c), or a SPIR-V module
 * (spirv.c); with STDCL_ARG_INFO=source always. The check compares kinds, sizes and type names when
 * an argument is set; a launch checks nothing more.
 * SPDX-License-Identifier: MIT
 */
#include "core/kernel.h"

#include <ctype.h>

/* Query a text, cut to the buffer's size; false if there is none. */
static bool arg_info_text(cl_kernel k, cl_uint i, cl_kernel_arg_info what, char *text, size_t room)
{
    size_t size = 0;
    if (clGetKernelArgInfo(k, i, what, 0, NULL, &size) != CL_SUCCESS || size == 0)
        return false;
    char *whole = malloc(size);
    bool ok = whole && clGetKernelArgInfo(k, i, what, size, whole, NULL) == CL_SUCCESS;
    if (ok)
        snprintf(text, room, "%s", whole);
    free(whole);
    return ok;
}

/* True if the argument is a pointer to const or a read_only image; false if that is unknown. */
static bool is_read_only(cl_kernel k, cl_uint i)
{
    cl_kernel_arg_type_qualifier qualifiers = 0;
    cl_kernel_arg_access_qualifier access = 0;
    if (clGetKernelArgInfo(k, i, CL_KERNEL_ARG_TYPE_QUALIFIER, sizeof qualifiers, &qualifiers,
                           NULL) != CL_SUCCESS ||
        clGetKernelArgInfo(k, i, CL_KERNEL_ARG_ACCESS_QUALIFIER, sizeof access, &access, NULL) !=
            CL_SUCCESS)
        return false;
    return (qualifiers & CL_KERNEL_ARG_TYPE_CONST) || access == CL_KERNEL_ARG_ACCESS_READ_ONLY;
}

/* Query an argument's declaration; false if the device's compiler does not provide it. */
static bool parameter_query(cl_kernel k, cl_uint i, struct parameter *p)
{
    cl_kernel_arg_address_qualifier space;
    if (clGetKernelArgInfo(k, i, CL_KERNEL_ARG_ADDRESS_QUALIFIER, sizeof space, &space, NULL) !=
            CL_SUCCESS ||
        !arg_info_text(k, i, CL_KERNEL_ARG_TYPE_NAME, p->type, sizeof p->type))
        return false;
    arg_info_text(k, i, CL_KERNEL_ARG_NAME, p->name, sizeof p->name);
    p->size = opencl_type_size(p->type);
    p->read_only = space == CL_KERNEL_ARG_ADDRESS_CONSTANT || is_read_only(k, i);
    p->kind = space == CL_KERNEL_ARG_ADDRESS_LOCAL     ? ARG_LOCAL
              : space == CL_KERNEL_ARG_ADDRESS_PRIVATE ? ARG_VALUE
                                                       : ARG_GLOBAL;
    return true;
}

static bool told_all(cl_kernel k, cl_uint n, struct parameter *p)
{
    for (cl_uint i = 0; i < n; i++)
        if (!parameter_query(k, i, &p[i]))
            return false;
    return true;
}

static bool ask_devices(struct kernel *k)
{
    const char *from = getenv("STDCL_ARG_INFO");
    for (cl_uint dev = 0; dev < k->program->cp->ndev && (!from || strcmp(from, "source") != 0);
         dev++)
        if (told_all(k->on_device[dev], k->nargs, k->parameters))
            return true;
    return false;
}

/* Compilers name a type as the source does: by its typedef. */
static void query_with_source(struct kernel *k, const char *source, const char *options)
{
    if (ask_devices(k)) {
        for (cl_uint i = 0; source && i < k->nargs; i++)
            signature_resolve(source, options, &k->parameters[i]);
        return;
    }
    memset(k->parameters, 0, k->nargs * sizeof *k->parameters);
    if (source)
        signature_parse(source, options, k->name, k->nargs, k->parameters);
}

void parameters_query(struct kernel *k, const struct part *part)
{
    const char *options = k->program->options;
    char *expanded = part->source  ? include_expand(part->name, part->source, options)
                     : part->spirv ? spirv_declarations(part)
                                   : NULL;
    query_with_source(k, expanded ? expanded : part->source, options);
    free(expanded);
}

/* Element of a type: "float4*" has 4 elements of 4 bytes, floating. Size 0: not a number in C. */
struct number {
    size_t size, width; /* width: elements of a vector, 4 of float3; 1 of a number */
    bool floating;
};

/* The width that the end of a type's name gives: 2 for "2*". */
static size_t vector_width(const char *end)
{
    const size_t width = isdigit((unsigned char)*end) ? strtoul(end, NULL, 10) : 1;
    return width == 3 ? 4 : width;
}

static struct number type_number(const char *type)
{
    static const struct {
        const char *name;
        size_t letters, size;
        bool floating;
    } known[] = {
        {"float", 5, 4, true}, {"double", 6, 8, true}, {"int", 3, 4, false},
        {"long", 4, 8, false}, {"short", 5, 2, false}, {"char", 4, 1, false},
    };
    const char *name = type[0] == 'u' ? type + 1 : type;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const unsigned char end = strncmp(name, known[i].name, known[i].letters)
                                      ? 'x'
                                      : (unsigned char)name[known[i].letters];
        if (end == '\0' || end == '*' || end == ' ' || isdigit(end))
            return (struct number){known[i].size, vector_width(name + known[i].letters),
                                   known[i].floating};
    }
    return (struct number){0};
}

/* True for a struct or union by value. */
static bool is_structure(const char *type)
{
    return (strncmp(type, "struct ", 7) == 0 || strncmp(type, "union ", 6) == 0) &&
           !strchr(type, '*');
}

/* True for a handle of OpenCL. */
static bool is_handle(const char *type)
{
    return strcmp(type, "sampler_t") == 0 || strcmp(type, "cl_mem") == 0;
}

/* True if the given type contradicts the declared one, as far as both are numbers or pointers to
 * numbers, a number is given for a struct, or one of them is a handle. Bytes may stand for
 * anything, and integers for integers of their size, signed or not. For pointers, integers may also
 * differ in size: 64-bit words may be stored as pairs of 32-bit words. A pointer to numbers may
 * stand for a pointer to vectors of them and the reverse. Two vectors must have the same size. */
static bool differ(const char *declared, const char *given)
{
    if (!given || strcmp(declared, given) == 0 || !strchr(declared, '*') != !strchr(given, '*'))
        return false;
    const struct number d = type_number(declared), g = type_number(given);
    if (is_handle(declared))
        return true;
    if (is_structure(declared))
        return g.size > 0 || is_handle(given);
    if (is_handle(given))
        return d.size > 0;
    if (d.size <= 1 || g.size <= 1)
        return false;
    if (strchr(declared, '*'))
        return d.floating != g.floating || (d.floating && d.size != g.size) ||
               (d.width > 1 && g.width > 1 && d.size * d.width != g.size * g.width);
    if (d.floating || g.floating)
        return d.floating != g.floating || d.size != g.size;
    return d.size * d.width != g.size * g.width;
}

/* True if a type of this name may be given. The last accepted name is kept: launches repeat their
 * types, and comparing two names costs less than parsing them. A copy, not the address: callers may
 * reuse the memory of a name. */
static bool type_fits(struct parameter *p, const char *given)
{
    if (!given || strcmp(p->accepted, given) == 0)
        return true;
    if (differ(p->type, given))
        return false;
    if (strlen(given) < sizeof p->accepted)
        strcpy(p->accepted, given);
    return true;
}

static const char *address_space_of(enum arg_kind kind)
{
    return kind == ARG_GLOBAL ? "memory " : kind == ARG_LOCAL ? "local memory " : "";
}

/* What to do about the error, where that is clear. */
static const char *advice(const struct parameter *p, enum arg_kind kind, const char *type)
{
    if (p->kind == ARG_GLOBAL)
        return kind == ARG_GLOBAL ? " (cast it to void * if that is meant)"
                                  : " (use clarg_set_global with memory from clmalloc)";
    if (strcmp(p->type, "float") == 0 && kind == ARG_VALUE && type && type_number(type).size)
        return " (2.0f is a float, 2.0 a double and 2 an int)";
    return "";
}

int check_arg(const struct kernel *k, cl_uint i, enum arg_kind kind, size_t size, const char *type,
              const char *call)
{
    struct parameter *p = &k->parameters[i];
    if (p->kind == ARG_UNSET)
        return 0;
    if (p->kind == kind && (kind != ARG_VALUE || p->size == 0 || p->size == size) &&
        type_fits(p, type))
        return 0;
    if (p->kind == ARG_GLOBAL && kind == ARG_VALUE && type && strcmp(type, "cl_mem") == 0)
        return 0;
    if (kind == ARG_LOCAL)
        return fail(EINVAL, 0, "%s: argument %u of kernel %s is %s%s %s; local memory was given",
                    call, i, k->name, address_space_of(p->kind), p->type, p->name);
    char bytes[32] = "";
    if (kind == ARG_VALUE)
        snprintf(bytes, sizeof bytes, " of %zu bytes", size);
    return fail(EINVAL, 0, "%s: argument %u of kernel %s is %s%s %s; %s %s%s was given%s", call, i,
                k->name, address_space_of(p->kind), p->type, p->name,
                type && type[0] == 'i' ? "an" : "a", type ? type : "value", bytes,
                advice(p, kind, type));
}

/* ---- Buffers and images. ---- */

static const struct {
    const char *name;
    cl_mem_object_type type;
} image_types[] = {
    {"image1d_t", CL_MEM_OBJECT_IMAGE1D},
    {"image1d_buffer_t", CL_MEM_OBJECT_IMAGE1D_BUFFER},
    {"image1d_array_t", CL_MEM_OBJECT_IMAGE1D_ARRAY},
    {"image2d_t", CL_MEM_OBJECT_IMAGE2D},
    {"image2d_array_t", CL_MEM_OBJECT_IMAGE2D_ARRAY},
    {"image3d_t", CL_MEM_OBJECT_IMAGE3D},
};

/* The kind of memory object that an argument takes; 0: unknown. */
static cl_mem_object_type object_type_of(const struct parameter *p)
{
    if (p->kind != ARG_GLOBAL)
        return 0;
    if (strchr(p->type, '*'))
        return CL_MEM_OBJECT_BUFFER;
    for (size_t i = 0; i < sizeof image_types / sizeof *image_types; i++)
        if (strstr(p->type, image_types[i].name)) /* after read_only, with some drivers */
            return image_types[i].type;
    return 0;
}

/* "a buffer", "an image2d_t" */
static const char *object_words(cl_mem_object_type type, char *text, size_t room)
{
    snprintf(text, room, "%s",
             type == 0                      ? "NULL"
             : type == CL_MEM_OBJECT_BUFFER ? "a buffer"
                                            : "an image of another kind");
    for (size_t i = 0; i < sizeof image_types / sizeof *image_types; i++)
        if (image_types[i].type == type)
            snprintf(text, room, "an %s", image_types[i].name);
    return text;
}

int check_object_type(const struct kernel *k, cl_uint i, cl_mem_object_type given, const char *call)
{
    const struct parameter *p = &k->parameters[i];
    const cl_mem_object_type declared = object_type_of(p);
    char words[40];
    if (!declared || declared == given || (given == 0 && declared == CL_MEM_OBJECT_BUFFER))
        return 0;
    return fail(EINVAL, CL_INVALID_ARG_VALUE,
                "%s: argument %u of kernel %s is %s %s; %s was given%s", call, i, k->name, p->type,
                p->name, object_words(given, words, sizeof words),
                declared != CL_MEM_OBJECT_BUFFER && given == CL_MEM_OBJECT_BUFFER
                    ? " (make a block an image with clmctl and CL_MCTL_SET_IMAGE)"
                    : "");
}
