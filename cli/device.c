/* device.c - the machine's devices, and the choice of --device.
 *
 * The list comes from OpenCL itself: the layer's standard contexts would open every device of
 * the machine.
 * SPDX-License-Identifier: MIT
 */
#include "command.h"
#include "device.h"
#include "interrupt.h"
#include "alloc.h"
#include "message.h"
#include "ranks.h"
#include "text.h"

#include "core/pocl.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdcl.h>
#include <stdcl/world.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

const char *cli_device_type(cl_device_type type)
{
    return type & CL_DEVICE_TYPE_GPU           ? "GPU"
           : type & CL_DEVICE_TYPE_CPU         ? "CPU"
           : type & CL_DEVICE_TYPE_ACCELERATOR ? "accelerator"
                                               : "custom";
}

/* ---- The list. ------------------------------------------------------------------------------- */

static void add_device(struct cli_devices *devices, size_t number, cl_platform_id platform,
                       cl_device_id id)
{
    devices->item = cli_realloc(devices->item, devices->n + 1, sizeof *devices->item);
    struct cli_device *d = &devices->item[devices->n++];
    *d = (struct cli_device){.id = id, .platform = number};
    const cl_int answer[] = {
        clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof d->platform_name, d->platform_name,
                          NULL),
        clGetPlatformInfo(platform, CL_PLATFORM_VERSION, sizeof d->platform_version,
                          d->platform_version, NULL),
        clGetDeviceInfo(id, CL_DEVICE_TYPE, sizeof d->type, &d->type, NULL),
        clGetDeviceInfo(id, CL_DEVICE_NAME, sizeof d->name, d->name, NULL),
        clGetDeviceInfo(id, CL_DEVICE_VENDOR, sizeof d->vendor, d->vendor, NULL)};
    for (size_t i = 0; i < sizeof answer / sizeof *answer; i++)
        d->error = answer[i] ? answer[i] : d->error;
}

static void add_platform(struct cli_devices *devices, size_t number, cl_platform_id platform)
{
    cl_uint n = 0;
    if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, NULL, &n) != CL_SUCCESS || n == 0)
        return;
    cl_device_id *id = cli_alloc(n, sizeof(cl_device_id));
    if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, n, id, NULL) == CL_SUCCESS)
        for (cl_uint i = 0; i < n; i++)
            add_device(devices, number, platform, id[i]);
    free(id);
}

/* Name the environment variable and the limit that may hide the platforms, where they are set. */
static const char *hidden_by(char *text, size_t size)
{
    static const char *const variable[] = {"OCL_ICD_VENDORS", "OCL_ICD_FILENAMES",
                                           "OPENCL_VENDOR_PATH"};
    size_t used = 0;
    for (size_t i = 0; i < sizeof variable / sizeof *variable && used == 0; i++)
        if (getenv(variable[i]))
            used = (size_t)snprintf(text, size, " (%s is set to '%.200s')", variable[i],
                                    getenv(variable[i]));
    no_platform_because(text + used, size - used);
    return text;
}

cl_uint cli_devices_list(struct cli_devices *devices)
{
    cl_uint n = 0;
    *devices = (struct cli_devices){0};
    cli_interrupt_block_quit();
    if (clGetPlatformIDs(0, NULL, &n) != CL_SUCCESS)
        n = 0;
    cl_platform_id *platform = cli_alloc(n + 1, sizeof(cl_platform_id));
    if (n > 0 && clGetPlatformIDs(n, platform, NULL) == CL_SUCCESS)
        for (cl_uint i = 0; i < n; i++)
            add_platform(devices, i, platform[i]);
    free(platform);
    cli_interrupt_restore_quit();
    return n;
}

int cli_devices_find(struct cli_devices *devices)
{
    char hidden[1024];
    const cl_uint n = cli_devices_list(devices);
    if (n == 0)
        return cli_failed(
            "this system has no OpenCL platform%s; to use the CPU as a device, type: %s",
            hidden_by(hidden, sizeof hidden), cli_install_hint("/etc/os-release"));
    if (devices->n == 0 && *no_device_because(hidden, sizeof hidden))
        return cli_failed("OpenCL is installed, but its %u platform%s no device%s", n,
                          n == 1 ? " has" : "s have", hidden);
    if (devices->n == 0)
        return cli_failed(
            "OpenCL is installed, but its %u platform%s no device; to use the CPU, type: %s", n,
            n == 1 ? " has" : "s have", cli_install_hint("/etc/os-release"));
    return CLI_DONE;
}

void cli_devices_free(struct cli_devices *devices)
{
    free(devices->item);
    *devices = (struct cli_devices){0};
}

/* ---- The choice. ----------------------------------------------------------------------------- */

static bool contains_ignoring_case(const char *text, const char *part)
{
    const size_t length = strlen(part);
    for (; *text; text++)
        if (strncasecmp(text, part, length) == 0)
            return true;
    return false;
}

/* True for a whole number below n. Larger numbers may be part of a name, as 4090 is. */
static bool is_number(const char *text, size_t n, size_t *number)
{
    char *end;
    if (!isdigit((unsigned char)*text))
        return false;
    *number = strtoul(text, &end, 10);
    return !*end && *number < n;
}

bool cli_device_matches(const struct cli_devices *devices, size_t device, const char *pattern)
{
    const struct cli_device *d = &devices->item[device];
    size_t number;
    if (is_number(pattern, devices->n, &number))
        return device == number;
    if (strcasecmp(pattern, "all") == 0)
        return true;
    if (strcasecmp(pattern, "cpu") == 0)
        return d->type & CL_DEVICE_TYPE_CPU;
    if (strcasecmp(pattern, "gpu") == 0)
        return d->type & CL_DEVICE_TYPE_GPU;
    if (strcasecmp(pattern, "acc") == 0)
        return d->type & CL_DEVICE_TYPE_ACCELERATOR;
    return contains_ignoring_case(d->name, pattern) || contains_ignoring_case(d->vendor, pattern) ||
           contains_ignoring_case(d->platform_name, pattern);
}

/* Split "H200:1" into `name` = "H200" and *which = 1. *which is SIZE_MAX without a number: all. */
static void split_pattern(const char *pattern, char *name, size_t size, size_t *which)
{
    snprintf(name, size, "%s", pattern);
    char *colon = strrchr(name, ':');
    *which = SIZE_MAX;
    if (!colon || colon == name || !is_number(colon + 1, SIZE_MAX, which))
        return;
    *colon = 0;
}

static void add_once(size_t *chosen, size_t *n, size_t device)
{
    for (size_t i = 0; i < *n; i++)
        if (chosen[i] == device)
            return;
    chosen[(*n)++] = device;
}

static int wrong_pattern(const struct cli_devices *devices, const char *pattern)
{
    char list[2048] = "";
    for (size_t i = 0; i < devices->n; i++)
        cli_text_append(list, sizeof list, "%s%zu = %s (%s, %s)", i ? "; " : "", i,
                        devices->item[i].name, cli_device_type(devices->item[i].type),
                        devices->item[i].platform_name);
    return cli_wrong("--device: no device matches '%.100s%s'; there %s: %s", pattern,
                     strlen(pattern) > 100 ? "..." : "", devices->n == 1 ? "is" : "are", list);
}

static int choose_by_pattern(const struct cli_devices *devices, const char *pattern, size_t *chosen,
                             size_t *n)
{
    char name[256];
    size_t which, seen = 0;
    split_pattern(pattern, name, sizeof name, &which);
    for (size_t i = 0; i < devices->n; i++)
        if (cli_device_matches(devices, i, name) && (seen++ == which || which == SIZE_MAX))
            add_once(chosen, n, i);
    return which == SIZE_MAX ? seen > 0 : which < seen;
}

int cli_devices_choose(const struct cli_devices *devices, const struct cli_strings *patterns,
                       size_t *chosen, size_t *n)
{
    static const char *const first[] = {"gpu:0", "cpu:0", "all:0"}, *const all[] = {"gpu", "cpu",
                                                                                    "all"};
    const char *const *const preferred = world_size(cli_world) > 1 ? all : first;
    *n = 0;
    for (size_t i = 0; i < patterns->n; i++) {
        const char *pattern = patterns->item[i];
        if (!pattern[strspn(pattern, " \t")])
            return cli_wrong(
                "--device: '%s' is blank; give part of a device's name, or a number of 'stdcl devices'",
                pattern);
        if (!choose_by_pattern(devices, pattern, chosen, n))
            return wrong_pattern(devices, pattern);
    }
    for (size_t i = 0; *n == 0; i++)
        choose_by_pattern(devices, preferred[i], chosen, n);
    return CLI_DONE;
}

/* A device without a type or name might be the one that was asked for. */
static int check_answers(const struct cli_devices *devices)
{
    for (size_t i = 0; i < devices->n; i++)
        if (devices->item[i].error)
            return cli_failed("cannot query device %zu of 'stdcl devices' (OpenCL error %d)", i,
                              devices->item[i].error);
    return CLI_DONE;
}

/* Reduce the chosen devices to this rank's part; without ranks to all. */
static int divide_devices(cl_device_id *id, size_t *n)
{
    unsigned char *mine = cli_alloc(*n, 1);
    const int status = world_devices(cli_world, id, *n, cli_ranks_share(), mine);
    size_t own = 0;
    for (size_t i = 0; i < *n && status == 0; i++)
        if (mine[i])
            id[own++] = id[i];
    *n = own;
    free(mine);
    return status == 0 ? CLI_DONE : cli_failed_call(NULL);
}

static struct cli_devices listed; /* cached by cli_devices_open, for names */

int cli_devices_open(const struct cli_strings *patterns, CLCONTEXT **context)
{
    struct cli_devices devices;
    size_t n = 0;
    *context = NULL;
    int status = cli_devices_find(&devices);
    if (status == CLI_DONE)
        status = check_answers(&devices);
    if (status != CLI_DONE) {
        cli_devices_free(&devices);
        return status;
    }
    size_t *chosen = cli_alloc(devices.n, sizeof *chosen);
    cl_device_id *id = cli_alloc(devices.n, sizeof(cl_device_id));
    status = cli_devices_choose(&devices, patterns, chosen, &n);
    for (size_t i = 0; i < n; i++)
        id[i] = devices.item[chosen[i]].id;
    if (status == CLI_DONE && cli_world)
        status = divide_devices(id, &n);
    if (status == CLI_DONE && !(*context = clcontext_create_from(id, n)))
        status = cli_failed_call("opening the devices");
    free(id);
    free(chosen);
    cli_devices_free(&listed);
    listed = devices;
    return status;
}

static const char *listed_name(cl_device_id id)
{
    for (size_t i = 0; i < listed.n; i++)
        if (listed.item[i].id == id)
            return listed.item[i].name;
    return "unknown device";
}

/* Names of this rank's devices, one per line. */
static char *own_lines(CLCONTEXT *context)
{
    const cl_uint n = clgetndev(context);
    char *lines = cli_alloc(n + 1, sizeof listed.item->name + 1), *end = lines;
    *lines = 0;
    for (cl_uint i = 0; i < n; i++)
        end += sprintf(end, "%s\n", listed_name(clgetdevice(context, i)));
    return lines;
}

static char *all_lines(char *own)
{
    char *all = world_size(cli_world) > 1 ? cli_ranks_gather(own) : NULL, *end = all, *text = all;
    if (!all)
        return own;
    free(own);
    for (int r = 0; r < world_size(cli_world); r++) { /* drop the terminators between ranks */
        const size_t length = strlen(text);
        memmove(end, text, length);
        end += length;
        text += length + 1;
    }
    *end = 0;
    return all;
}

/* Print the names, with equal neighbours counted: "2 x NVIDIA H200 + pthread-skylake". */
static void count_lines(const char *lines, FILE *fp)
{
    for (const char *line = lines; *line;) {
        const size_t length = strcspn(line, "\n") + 1;
        const char *next = line;
        size_t same = 0;
        for (; strncmp(next, line, length) == 0; next += length)
            same++;
        fprintf(fp, "%s", line == lines ? "" : " + ");
        if (same > 1)
            fprintf(fp, "%zu x ", same);
        fprintf(fp, "%.*s", (int)length - 1, line);
        line = next;
    }
}

char *cli_devices_name(CLCONTEXT *context)
{
    char *text = NULL;
    size_t size = 0;
    if (!context)
        return strcpy(cli_alloc(1, sizeof "host"), "host");
    if (listed.n == 0) /* the context is one of the standard contexts */
        cli_devices_list(&listed);
    char *lines = all_lines(own_lines(context));
    FILE *fp = open_memstream(&text, &size);
    if (!fp)
        cli_out_of_memory("the names of the devices");
    count_lines(lines, fp);
    const int hosts = world_hosts(cli_world), ranks = world_size(cli_world);
    if (ranks > 1)
        fprintf(fp, " on %d host%s, %d ranks%s", hosts, hosts == 1 ? "" : "s", ranks,
                cli_ranks_share() ? ", sharing devices" : "");
    if (fclose(fp) != 0)
        cli_out_of_memory("the names of the devices");
    free(lines);
    return text;
}

/* ---- What to install. ------------------------------------------------------------------------ */

/* Read ID and ID_LIKE of an os-release file (freedesktop.org's format) into `words`. */
static void read_os_names(const char *path, char *words, size_t size)
{
    char line[512];
    FILE *fp = fopen(path, "r");
    words[0] = 0;
    while (fp && fgets(line, sizeof line, fp))
        if (strncmp(line, "ID=", 3) == 0 || strncmp(line, "ID_LIKE=", 8) == 0)
            cli_text_append(words, size, " %s", strchr(line, '=') + 1);
    if (fp)
        fclose(fp);
    for (char *p = words; *p; p++)
        if (*p == '"' || *p == '\'' || *p == '\n')
            *p = ' ';
}

const char *cli_install_hint(const char *path)
{
    static const struct {
        const char *system, *command;
    } hint[] = {
        {" debian ", "sudo apt-get install pocl-opencl-icd"},
        {" ubuntu ", "sudo apt-get install pocl-opencl-icd"},
        {" fedora ", "sudo dnf install pocl"},
        {" rhel ", "sudo dnf install epel-release && sudo dnf install pocl"},
        {" arch ", "sudo pacman -S pocl"},
        {" alpine ", "sudo apk add pocl"},
        {" suse ", "sudo zypper install pocl"},
    };
    char words[1024];
#ifdef __APPLE__
    return "brew install pocl";
#endif
    read_os_names(path, words, sizeof words - 1);
    strcat(words, " ");
    for (size_t i = 0; i < sizeof hint / sizeof *hint; i++)
        if (strstr(words, hint[i].system))
            return hint[i].command;
    return "apt-get install pocl-opencl-icd, dnf install pocl, pacman -S pocl or brew install pocl, "
           "whichever this system has";
}
