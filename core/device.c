/* device.c - the devices of a context: by number, waiting for them, their properties.
 * SPDX-License-Identifier: MIT
 */
#include "core/kernel.h"

struct device *device_of(CLCONTEXT *cp, cl_uint dev, const char *call)
{
    if (!cp) {
        fail_no_context(call);
        return NULL;
    }
    if (forked_child(call))
        return NULL;
    if (dev >= cp->ndev) {
        fail(EINVAL, 0, "%s: the context has no device %u, only 0 to %u", call, dev, cp->ndev - 1);
        return NULL;
    }
    return &cp->dev[dev];
}

cl_device_id device_id(CLCONTEXT *cp, cl_uint dev, const char *call)
{
    const struct device *d = device_of(cp, dev, call);
    return d ? d->id : NULL;
}

cl_device_type device_type(const CLCONTEXT *cp, cl_uint dev)
{
    return cp->dev[dev].type;
}

const char *device_name(const CLCONTEXT *cp, cl_uint dev)
{
    return cp->dev[dev].name;
}

cl_command_queue device_side_queue(struct device *d, int k, bool make)
{
    pthread_mutex_lock(&d->lock);
    if (make && !d->side_queue[k])
        d->side_queue[k] = clCreateCommandQueue(d->context, d->id, 0, NULL);
    const cl_command_queue queue = d->side_queue[k];
    pthread_mutex_unlock(&d->lock);
    return queue;
}

void device_flush_side_queues(struct device *d)
{
    for (int k = 0; k < 2; k++) {
        const cl_command_queue queue = device_side_queue(d, k, false);
        if (queue)
            clFlush(queue);
    }
}

void device_drain(struct device *d)
{
    clFinish(d->queue);
    for (int k = 0; k < 2; k++) {
        const cl_command_queue queue = device_side_queue(d, k, false);
        if (queue)
            clFinish(queue);
    }
}

STDCL_API cl_uint clgetndev(CLCONTEXT *cp)
{
    return cp ? cp->ndev : 0;
}

STDCL_API cl_device_id clgetdevice(CLCONTEXT *cp, cl_uint dev)
{
    return device_id(cp, dev, "clgetdevice");
}

STDCL_API cl_context clgetclcontext(CLCONTEXT *cp, cl_uint dev)
{
    struct device *d = device_of(cp, dev, "clgetclcontext");
    return d ? d->context : NULL;
}

STDCL_API cl_command_queue clgetqueue(CLCONTEXT *cp, cl_uint dev)
{
    struct device *d = device_of(cp, dev, "clgetqueue");
    return d ? d->queue : NULL;
}

STDCL_API int clstat(CLCONTEXT *cp, struct clstat_info *info)
{
    if (!cp || !info)
        return fail(EINVAL, 0, "clstat: the context or the result is NULL");
    if (forked_child("clstat"))
        return -1;
    memset(info, 0, sizeof *info);
    info->ndev = cp->ndev;
    pthread_mutex_lock(&cp->lock);
    for (struct program *p = cp->programs; p; p = p->next) {
        info->nprg++;
        pthread_mutex_lock(&p->lock);
        for (struct kernel *k = p->kernels; k; k = k->next)
            info->nkrn++;
        pthread_mutex_unlock(&p->lock);
    }
    pthread_mutex_unlock(&cp->lock);
    return 0;
}

/* The fields of struct cldev_info with the query for each. */
#define DEVICE_FIELDS(X)                                                                           \
    X(dev_type, CL_DEVICE_TYPE)                                                                    \
    X(dev_vendor_id, CL_DEVICE_VENDOR_ID)                                                          \
    X(dev_max_core, CL_DEVICE_MAX_COMPUTE_UNITS)                                                   \
    X(dev_max_wi_dim, CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS)                                          \
    X(dev_max_wg_sz, CL_DEVICE_MAX_WORK_GROUP_SIZE)                                                \
    X(dev_pref_vec_char, CL_DEVICE_PREFERRED_VECTOR_WIDTH_CHAR)                                    \
    X(dev_pref_vec_short, CL_DEVICE_PREFERRED_VECTOR_WIDTH_SHORT)                                  \
    X(dev_pref_vec_int, CL_DEVICE_PREFERRED_VECTOR_WIDTH_INT)                                      \
    X(dev_pref_vec_long, CL_DEVICE_PREFERRED_VECTOR_WIDTH_LONG)                                    \
    X(dev_pref_vec_float, CL_DEVICE_PREFERRED_VECTOR_WIDTH_FLOAT)                                  \
    X(dev_pref_vec_double, CL_DEVICE_PREFERRED_VECTOR_WIDTH_DOUBLE)                                \
    X(dev_max_freq, CL_DEVICE_MAX_CLOCK_FREQUENCY)                                                 \
    X(dev_global_mem_sz, CL_DEVICE_GLOBAL_MEM_SIZE)                                                \
    X(dev_max_mem_alloc_sz, CL_DEVICE_MAX_MEM_ALLOC_SIZE)                                          \
    X(dev_img_sup, CL_DEVICE_IMAGE_SUPPORT)                                                        \
    X(dev_max_img_args_r, CL_DEVICE_MAX_READ_IMAGE_ARGS)                                           \
    X(dev_max_img_args_w, CL_DEVICE_MAX_WRITE_IMAGE_ARGS)                                          \
    X(dev_img2d_max_width, CL_DEVICE_IMAGE2D_MAX_WIDTH)                                            \
    X(dev_img2d_max_height, CL_DEVICE_IMAGE2D_MAX_HEIGHT)                                          \
    X(dev_img3d_max_width, CL_DEVICE_IMAGE3D_MAX_WIDTH)                                            \
    X(dev_img3d_max_height, CL_DEVICE_IMAGE3D_MAX_HEIGHT)                                          \
    X(dev_img3d_max_depth, CL_DEVICE_IMAGE3D_MAX_DEPTH)                                            \
    X(dev_max_samplers, CL_DEVICE_MAX_SAMPLERS)                                                    \
    X(dev_max_param_sz, CL_DEVICE_MAX_PARAMETER_SIZE)                                              \
    X(dev_mem_base_addr_align, CL_DEVICE_MEM_BASE_ADDR_ALIGN)                                      \
    X(dev_local_mem_sz, CL_DEVICE_LOCAL_MEM_SIZE)

/* A query that the device does not know leaves 0. Return the error of any other failure, or of a
 * query that every device must answer. */
static cl_int fill_devinfo(cl_device_id id, struct cldev_info *info)
{
    cl_uint address_bits = 0;
    cl_int error = CL_SUCCESS, status;
    memset(info, 0, sizeof *info);
#define ASK(query, size, to)                                                                       \
    status = clGetDeviceInfo(id, query, size, to, NULL);                                           \
    if (status != CL_SUCCESS && status != CL_INVALID_VALUE)                                        \
        error = status;
#define X(field, query) ASK(query, sizeof info->field, &info->field)
    DEVICE_FIELDS(X)
#undef X
    ASK(CL_DEVICE_ADDRESS_BITS, sizeof address_bits, &address_bits)
    info->dev_addr_bits = address_bits;
    ASK(CL_DEVICE_MAX_WORK_ITEM_SIZES, sizeof info->dev_max_wi_sz, info->dev_max_wi_sz)
    info->dev_max_wi_sz_is_symmetric = 1;
    for (cl_uint i = 1; i < info->dev_max_wi_dim && i < 4; i++)
        if (info->dev_max_wi_sz[i] != info->dev_max_wi_sz[0])
            info->dev_max_wi_sz_is_symmetric = 0;
    ASK(CL_DEVICE_NAME, sizeof info->dev_name, info->dev_name)
    ASK(CL_DEVICE_VENDOR, sizeof info->dev_vendor, info->dev_vendor)
    ASK(CL_DEVICE_VERSION, sizeof info->dev_version, info->dev_version)
    ASK(CL_DRIVER_VERSION, sizeof info->dev_drv_version, info->dev_drv_version)
#undef ASK
    return error == CL_SUCCESS && (info->dev_max_wg_sz == 0 || info->dev_max_core == 0 ||
                                   info->dev_local_mem_sz == 0)
               ? CL_INVALID_VALUE
               : error;
}

STDCL_API int clgetdevinfo(CLCONTEXT *cp, struct cldev_info *info)
{
    if (!cp || !info)
        return fail(EINVAL, 0, "clgetdevinfo: the context or the result is NULL");
    if (forked_child("clgetdevinfo"))
        return -1;
    for (cl_uint i = 0; i < cp->ndev; i++) {
        const cl_int err = fill_devinfo(cp->dev[i].id, &info[i]);
        if (err != CL_SUCCESS)
            return fail(EIO, err, "clgetdevinfo: %s does not tell what it is", cp->dev[i].name);
    }
    return 0;
}

STDCL_API void clfreport_devinfo(FILE *fp, size_t ndev, struct cldev_info *info)
{
    for (size_t i = 0; fp && info && i < ndev; i++) {
        const struct cldev_info *d = &info[i];
        fprintf(fp, "device %zu\n", i);
#define X(field, query) fprintf(fp, "%s=%llu\n", #query, (unsigned long long)d->field);
        DEVICE_FIELDS(X)
#undef X
        fprintf(fp, "CL_DEVICE_MAX_WORK_ITEM_SIZES=");
        for (cl_uint k = 0; k < d->dev_max_wi_dim && k < 4; k++)
            fprintf(fp, "%s%zu", k ? "," : "", d->dev_max_wi_sz[k]);
        fprintf(fp, "\nCL_DEVICE_ADDRESS_BITS=%llu\n", (unsigned long long)d->dev_addr_bits);
        fprintf(fp, "CL_DEVICE_NAME=%s\nCL_DEVICE_VENDOR=%s\n", d->dev_name, d->dev_vendor);
        fprintf(fp, "CL_DEVICE_VERSION=%s\nCL_DRIVER_VERSION=%s\n", d->dev_version,
                d->dev_drv_version);
    }
}
