/* partition.h - the partition of C among devices, host arrays in place, and transfers between the
 * host and a device.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_MATMUL_PARTITION_H
#define STDCL_MATMUL_PARTITION_H

#include "matmul/device.h"

/* Return the block of an m x n matrix C that device d computes. C is cut into a grid of blocks in
 * proportion to the devices' weights. */
struct area matmul_area(const struct matmul *mm, cl_uint d, size_t m, size_t n);

/* Return the product of host arrays that computes one block of C. */
struct host_product matmul_subproduct(const struct matmul *mm, const struct host_product *p,
                                      struct area area);

/* True if kernels of the device can use the product's host arrays in place: on a CPU, where each
 * array, from its first to its last element, is no larger than a buffer may be. */
bool matmul_fits_in_place(const struct matmul *mm, const struct matmul_device *p,
                          const struct host_product *h);

/* Wrap host arrays in buffers of a CPU device without a copy, and fill in the product's operands.
 * Release the buffers by matmul_unwrap_host, also after a failure. */
int matmul_wrap_host(struct matmul *mm, const struct matmul_device *p, const struct host_product *h,
                     struct product *x);
void matmul_unwrap_host(struct product *x);
void matmul_release_operand(struct operand *o);

/* Block until a command is complete. Return CL_SUCCESS or its error; NVIDIA's driver reports the
 * error by the execution status only. */
cl_int matmul_wait_event(cl_event ev);

/* Return the bytes of a device's memory that products of host arrays may still use. */
size_t matmul_memory_left(const struct matmul *mm, const struct matmul_device *p);

/* Enqueue a copy of rows x cols elements between the host and an operand on a device, after up to
 * two events (NULL: none). If `done` is not NULL it receives the copy's event. */
enum direction { TO_DEVICE, TO_HOST };
int matmul_transfer(struct matmul *mm, const struct matmul_device *p, cl_command_queue queue,
                    enum direction direction, const struct operand *o, void *host, size_t ld,
                    size_t rows, size_t cols, cl_event wait1, cl_event wait2, cl_event *done);

/* Free the loaded matrices (place.c). */
void matmul_unload(struct matmul *mm);

#endif
