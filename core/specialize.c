/* specialize.c - clspec: values of specialization constants, kept until the program is built.
 * SPDX-License-Identifier: MIT
 */
#include "core/program.h"

/* Store the value for the next build. Call with the program's lock held. */
static int store_constant(struct part *part, cl_uint id, size_t size, const void *value)
{
    size_t i = 0;
    while (i < part->nspecs && part->spec[i].id != id)
        i++;
    if (i == part->nspecs) {
        struct constant *more = realloc(part->spec, (i + 1) * sizeof *more);
        if (!more)
            return fail(ENOMEM, 0, "clspec: out of memory on the host");
        part->spec = more;
        part->nspecs++;
    }
    part->spec[i] = (struct constant){.id = id, .size = size};
    memcpy(part->spec[i].value, value, size);
    return 0;
}

static int check_constant(const struct program *p, cl_uint id, size_t size)
{
    const struct part *part = &p->part[0];
    if (p->nparts != 1 || !part->spirv)
        return fail(EINVAL, 0, "clspec: %s is no SPIR-V; use macros of clbuild", part->name);
    if (p->built)
        return fail(EINVAL, 0, "clspec: %s is already built; open it with CLLD_NOBUILD",
                    part->name);
    const size_t declared = spirv_constant_size(part, id);
    if (!declared)
        return fail(ENOENT, CL_INVALID_SPEC_ID, "clspec: %s has no specialization constant %u",
                    part->name, id);
    if (declared != size)
        return fail(EINVAL, CL_INVALID_VALUE,
                    "clspec: specialization constant %u of %s has %zu bytes, %zu were given", id,
                    part->name, declared, size);
    return 0;
}

STDCL_API int clspec(CLCONTEXT *cp, void *handle, cl_uint id, size_t size, const void *value)
{
    struct program *p = program_of(cp, handle, "clspec");
    if (!p)
        return -1;
    if (!value)
        return fail(EINVAL, 0, "clspec: the value is NULL");
    pthread_mutex_lock(&p->lock);
    int status = check_constant(p, id, size);
    if (status == 0)
        status = store_constant(&p->part[0], id, size, value);
    if (status == 0)
        program_forget_refusal(p);
    pthread_mutex_unlock(&p->lock);
    return status;
}
