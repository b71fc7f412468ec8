/* device.h - the devices of this machine and the choice of --device.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_CLI_DEVICE_H
#define STDCL_CLI_DEVICE_H

#include "options.h"

#include <stdcl.h>

/* A device. Devices are numbered as everywhere in stdcl: platform by platform. */
struct cli_device {
    cl_device_id id;
    cl_device_type type;
    size_t platform; /* from 0 */
    char platform_name[256];
    char platform_version[256];
    char name[256];
    char vendor[256];
    cl_int error; /* of the first failed query; 0: none */
};
struct cli_devices {
    size_t n;
    struct cli_device *item;
};

/* List the machine's devices without opening any. Return the number of platforms. Free with
 * cli_devices_free. */
cl_uint cli_devices_list(struct cli_devices *devices);

/* cli_devices_list that returns CLI_DONE, or CLI_FAILED after naming the packages to install if
 * there is no device. */
int cli_devices_find(struct cli_devices *devices);
void cli_devices_free(struct cli_devices *devices);

/* True if `pattern` is "all", the device's type (cpu, gpu, acc), its number in the list, or part of
 * its name, its vendor or its platform's name. Case does not matter. */
bool cli_device_matches(const struct cli_devices *devices, size_t device, const char *pattern);

/* Write the numbers of the devices that the patterns select to chosen[devices->n], in order and
 * without repetition, and their number to *n. Without patterns: the first GPU, else the first CPU,
 * else the first device. CLI_WRONG after listing all devices if a pattern selects none. */
int cli_devices_choose(const struct cli_devices *devices, const struct cli_strings *patterns,
                       size_t *chosen, size_t *n);

/* Open the devices that the patterns select; several ranks of a host divide them. The caller
 * destroys *context. Fails as cli_devices_find and cli_devices_choose do. */
int cli_devices_open(const struct cli_strings *patterns, CLCONTEXT **context);

/* The devices of a context in words: "NVIDIA H200" or "2 x NVIDIA H200". With ranks: the devices of
 * all, "16 x NVIDIA H200 on 2 hosts, 2 ranks"; collective. NULL: "host". The caller frees the
 * text. */
char *cli_devices_name(CLCONTEXT *context);

/* "CPU", "GPU", "accelerator", ... */
const char *cli_device_type(cl_device_type type);

/* Command that installs an OpenCL device on this system, by the os-release file at `path` (normally
 * "/etc/os-release"). Static memory. */
const char *cli_install_hint(const char *path);

#endif
