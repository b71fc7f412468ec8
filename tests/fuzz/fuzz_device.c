/* fuzz_device.c - arbitrary lines as patterns of --device, on an artificial list of devices; for
 * libFuzzer or for driver.c.
 *
 * Either the patterns select devices, each once and every match, or one line on stderr says that
 * there is none.
 * SPDX-License-Identifier: MIT
 */
#include "cli/command.h"
#include "cli/device.h"
#include "fuzz.h"

#include <stdcl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct cli_device item[] = {
    {.type = CL_DEVICE_TYPE_CPU,
     .platform_name = "Portable Computing Language",
     .name = "pthread-skylake",
     .vendor = "GenuineIntel"},
    {.type = CL_DEVICE_TYPE_GPU,
     .platform = 1,
     .platform_name = "NVIDIA CUDA",
     .name = "NVIDIA H200",
     .vendor = "NVIDIA Corporation"},
    {.type = CL_DEVICE_TYPE_GPU,
     .platform = 1,
     .platform_name = "NVIDIA CUDA",
     .name = "NVIDIA GeForce RTX 4090",
     .vendor = "NVIDIA Corporation"},
    {.type = CL_DEVICE_TYPE_ACCELERATOR, .platform = 2, .name = "", .vendor = "\xc3\xa9t\xc3\xa9"},
};
enum { DEVICES = sizeof item / sizeof *item };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct cli_devices devices = {DEVICES, item};
    struct cli_strings patterns = {0};
    size_t chosen[DEVICES], n = 0, length = 0;
    char *text = text_copy(data, size), *said = NULL;
    for (char *p = text; *p; p++) /* which a sentence may quote */
        *p = *p == '\t' ? ' ' : *p;
    for (char *line = strtok(text, "\n"); line && patterns.n < 8; line = strtok(NULL, "\n"))
        cli_strings_add(&patterns, line);
    FILE *const before = stderr;
    stderr = open_memstream(&said, &length);
    promise(stderr);
    const int status = cli_devices_choose(&devices, &patterns, chosen, &n);
    fclose(stderr);
    stderr = before;
    promise(status == CLI_DONE || status == CLI_WRONG);
    promise(n <= DEVICES && (status != CLI_DONE || n > 0));
    for (size_t i = 0; i < n; i++) {
        promise(chosen[i] < DEVICES);
        for (size_t j = 0; j < i; j++)
            promise(chosen[i] != chosen[j]);
    }
    promise((status == CLI_DONE) == (length == 0));
    if (length) {
        promise(said[length - 1] == '\n');
        said[length - 1] = 0;
        promise_sentence(said, "stdcl: --device: ");
    }
    free(said);
    cli_strings_free(&patterns);
    free(text);
    return 0;
}
