/* gpu.c - LD_PRELOAD library that reports Oclgrind's device as a GPU, for run.sh.
 *
 * Oclgrind's device has every type at once, and so counts as a CPU, which shares memory with the
 * host. Oclgrind does not see the host's writes there and takes the memory for uninitialised. As a
 * GPU the device gets all data by copies, and takes the shapes of GPUs. With OCLGRIND_GPU=2 in the
 * environment there are two devices, for transfers between devices.
 *
 * Oclgrind 21.10 treats a whole buffer as uninitialised once a part of it was written or filled.
 * So this library writes whole buffers, and uninitialised reads are found only in buffers that the
 * host never writes.
 * SPDX-License-Identifier: MIT
 */
#include "../called_gpu.h"

OURS cl_int clGetDeviceIDs(cl_platform_id platform, cl_device_type type, cl_uint room,
                           cl_device_id *devices, cl_uint *n)
{
    const cl_int status = NEXT(clGetDeviceIDs)(platform, type, room, devices, n);
    if (status != CL_SUCCESS || !getenv("OCLGRIND_GPU"))
        return status;
    if (n)
        *n = 2;
    if (devices && room > 1)
        devices[1] = devices[0];
    return status;
}

/* Write rows of bytes: for Oclgrind as one write of the whole buffer, with the rows replaced. */
static cl_int write_buffer_rows(cl_command_queue queue, cl_mem buffer, size_t at, size_t bytes,
                                size_t rows, size_t pitch, const char *from, size_t from_pitch,
                                cl_uint nwait, const cl_event *wait, cl_event *done)
{
    size_t size = 0;
    cl_int status = clGetMemObjectInfo(buffer, CL_MEM_SIZE, sizeof size, &size, NULL);
    char *all = malloc(size + 1);
    if (!all)
        return CL_OUT_OF_HOST_MEMORY;
    if (status == CL_SUCCESS)
        status = clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, size, all, nwait, wait, NULL);
    for (size_t y = 0; status == CL_SUCCESS && y < rows; y++)
        memcpy(all + at + y * pitch, from + y * from_pitch, bytes);
    if (status == CL_SUCCESS)
        status = NEXT(clEnqueueWriteBuffer)(queue, buffer, CL_TRUE, 0, size, all, 0, NULL, done);
    free(all);
    return status;
}

OURS cl_int clEnqueueWriteBuffer(cl_command_queue queue, cl_mem buffer, cl_bool block, size_t at,
                                 size_t bytes, const void *from, cl_uint nwait,
                                 const cl_event *wait, cl_event *done)
{
    (void)block;
    return write_buffer_rows(queue, buffer, at, bytes, 1, 0, from, 0, nwait, wait, done);
}

OURS cl_int clEnqueueFillBuffer(cl_command_queue queue, cl_mem buffer, const void *pattern,
                                size_t size, size_t at, size_t bytes, cl_uint nwait,
                                const cl_event *wait, cl_event *done)
{
    return write_buffer_rows(queue, buffer, at, size, bytes / size, size, pattern, 0, nwait, wait,
                             done);
}

/* Two dimensions only, which is all that we use. */
OURS cl_int clEnqueueWriteBufferRect(cl_command_queue queue, cl_mem buffer, cl_bool block,
                                     const size_t *there, const size_t *here, const size_t *region,
                                     size_t row, size_t slice, size_t host_row, size_t host_slice,
                                     const void *host, cl_uint nwait, const cl_event *wait,
                                     cl_event *done)
{
    const char *from = (const char *)host + here[0] + here[1] * host_row;
    (void)block, (void)slice, (void)host_slice;
    if (region[2] != 1 || there[2] || here[2])
        return CL_INVALID_VALUE;
    return write_buffer_rows(queue, buffer, there[0] + there[1] * row, region[0], region[1], row,
                             from, host_row, nwait, wait, done);
}
