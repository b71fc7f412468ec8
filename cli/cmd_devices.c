/* cmd_devices.c - `stdcl devices`: list the OpenCL devices of this machine. */
/* SPDX-License-Identifier: MIT */
#include "command.h"
#include "device.h"
#include "json.h"
#include "alloc.h"
#include "message.h"
#include "ranks.h"
#include "report.h"
#include "text.h"
#include "usage.h"

#include "core/clock.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdcl.h>
#include <stdcl/world.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Standard contexts. The variables are macros that open their devices at first use; only an open
 * context tells its devices. */
enum { CONTEXTS = 4 };
static const char *const context_name[CONTEXTS] = {"stddev", "stdcpu", "stdgpu", "stdacc"};

static bool holds(CLCONTEXT *context, cl_device_id id)
{
    for (cl_uint i = 0; i < clgetndev(context); i++)
        if (clgetdevice(context, i) == id)
            return true;
    return false;
}

/* Details of a device beyond struct cli_device. */
struct detail {
    cl_uint units, clock_mhz;
    cl_ulong memory, local, allocation;
    size_t group;
    cl_device_fp_config fp64;
    char driver[256], version[256];
    bool in[CONTEXTS];
};

/* Query a device. Return the error of the last failed query, or 0. */
static cl_int query_device(cl_device_id id, CLCONTEXT *const context[CONTEXTS], struct detail *d)
{
    *d = (struct detail){0};
    const cl_int answer[] = {
        clGetDeviceInfo(id, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof d->units, &d->units, NULL),
        clGetDeviceInfo(id, CL_DEVICE_MAX_CLOCK_FREQUENCY, sizeof d->clock_mhz, &d->clock_mhz,
                        NULL),
        clGetDeviceInfo(id, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof d->memory, &d->memory, NULL),
        clGetDeviceInfo(id, CL_DEVICE_LOCAL_MEM_SIZE, sizeof d->local, &d->local, NULL),
        clGetDeviceInfo(id, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof d->allocation, &d->allocation,
                        NULL),
        clGetDeviceInfo(id, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof d->group, &d->group, NULL),
        clGetDeviceInfo(id, CL_DEVICE_DOUBLE_FP_CONFIG, sizeof d->fp64, &d->fp64, NULL),
        clGetDeviceInfo(id, CL_DRIVER_VERSION, sizeof d->driver, d->driver, NULL),
        clGetDeviceInfo(id, CL_DEVICE_VERSION, sizeof d->version, d->version, NULL)};
    cl_int error = CL_SUCCESS;
    for (size_t i = 0; i < sizeof answer / sizeof *answer; i++)
        error = answer[i] ? answer[i] : error;
    for (int i = 0; i < CONTEXTS; i++)
        d->in[i] = holds(context[i], id);
    return error;
}

static json_t *device_details_json(size_t number, const struct cli_device *device,
                                   const struct detail *d)
{
    json_t *in = json_array();
    for (int i = 0; i < CONTEXTS; i++)
        if (d->in[i])
            json_array_append_new(in, json_string(context_name[i]));
    return json_pack(
        "{s:I, s:s, s:s, s:s, s:s, s:s, s:I, s:f, s:I, s:I, s:I, s:I, s:b, s:s, s:s, s:o}",
        "number", (json_int_t)number, "name", device->name, "vendor", device->vendor, "type",
        cli_device_type(device->type), "platform", device->platform_name, "platform_version",
        device->platform_version, "compute_units", (json_int_t)d->units, "clock_hz",
        1e6 * d->clock_mhz, "memory_bytes", (json_int_t)d->memory, "local_memory_bytes",
        (json_int_t)d->local, "max_allocation_bytes", (json_int_t)d->allocation, "max_work_group",
        (json_int_t)d->group, "fp64", d->fp64 != 0, "driver", d->driver, "version", d->version,
        "contexts", in);
}

/* True on the first rank of its host, which reports the host's devices. */
static bool first_on_host(void)
{
    const int rank = world_rank(cli_world);
    int first = 0;
    while (strcmp(world_host(cli_world, first), world_host(cli_world, rank)) != 0)
        first++;
    return first == rank;
}

/* Add the devices of all other hosts to the list; each device gets a key "host". */
static void add_hosts(json_t *list)
{
    json_t *device;
    size_t i;
    json_array_foreach(list, i, device) json_object_set_new(
        device, "host", json_string(world_host(cli_world, world_rank(cli_world))));
    char *own = first_on_host() ? json_dumps(list, 0) : strdup(""),
         *all = own ? cli_ranks_gather(own) : NULL, *text = all;
    json_array_clear(list);
    for (int r = 0; all && r < world_size(cli_world); r++, text += strlen(text) + 1) {
        json_t *gpus_per_host = *text ? json_loads(text, 0, NULL) : NULL;
        json_array_extend(list, gpus_per_host);
        json_decref(gpus_per_host);
    }
    free(all);
    free(own);
}

static int devices_report_json(const struct cli_devices *devices, const struct detail *detail)
{
    json_t *list = json_array();
    for (size_t i = 0; i < devices->n; i++)
        json_array_append_new(list, device_details_json(i, &devices->item[i], &detail[i]));
    if (world_size(cli_world) > 1)
        add_hosts(list);
    json_t *report = json_pack("{s:s, s:o}", "program", "devices", "devices", list);
    const int status = cli_json_print(report);
    json_decref(report);
    return status;
}

static void add_contexts(struct text_table *table, const struct detail *d)
{
    char text[64] = "";
    for (int i = 0; i < CONTEXTS; i++)
        if (d->in[i])
            cli_text_append(text, sizeof text, "%s%s", *text ? " " : "", context_name[i]);
    text_table_add(table, "%s", *text ? text : "-");
}

/* Length of the version proper; PoCL appends its build options after two blanks. */
static int version_length(const char *version)
{
    const char *end = strstr(version, "  ");
    return (int)(end ? end - version : (ptrdiff_t)strlen(version));
}

/* The number, the name and the memory are what users look for; --json has everything. */
static void devices_print_table(const struct cli_devices *devices, const struct detail *detail,
                                FILE *fp)
{
    struct cli_text clock, memory, local;
    struct text_table *table = text_table_create(
        ">#|~device|type|>2units|>4clock|>memory|>5local|3fp64|6driver|1contexts");
    for (size_t i = 0; i < devices->n; i++) {
        const struct cli_device *device = &devices->item[i];
        if (i == 0 || device->platform != device[-1].platform)
            text_table_heading(table, "%s, %.*s", device->platform_name,
                               version_length(device->platform_version), device->platform_version);
        text_table_add(table, "%zu", i);
        text_table_add(table, "%s", device->name);
        text_table_add(table, "%s", cli_device_type(device->type));
        text_table_add(table, "%u", detail[i].units);
        text_table_add(table, "%s", cli_text_rate(&clock, 1e6 * detail[i].clock_mhz, "Hz"));
        text_table_add(table, "%s", cli_text_bytes(&memory, (double)detail[i].memory));
        text_table_add(table, "%s", cli_text_bytes(&local, (double)detail[i].local));
        text_table_add(table, "%s", detail[i].fp64 ? "yes" : "no");
        text_table_add(table, "%s", detail[i].driver);
        add_contexts(table, &detail[i]);
    }
    cli_table_end(table, fp, terminal_columns(stdout));
}

/* Print one table per host. */
static int devices_report_table(const struct cli_devices *devices, const struct detail *detail)
{
    char *own = NULL;
    size_t size = 0;
    if (world_size(cli_world) == 1) {
        devices_print_table(devices, detail, stdout);
        return CLI_DONE;
    }
    FILE *fp = open_memstream(&own, &size);
    if (!fp)
        return cli_failed("out of memory for the table");
    if (first_on_host()) {
        fprintf(fp, "%s\n", world_host(cli_world, world_rank(cli_world)));
        devices_print_table(devices, detail, fp);
    }
    fclose(fp);
    char *all = cli_ranks_gather(own), *text = all;
    for (int r = 0; all && r < world_size(cli_world); r++, text += strlen(text) + 1)
        printf("%s%s", r > 0 && *text ? "\n" : "", text);
    free(own);
    const int status = all ? CLI_DONE : cli_failed_call(NULL);
    free(all);
    return status;
}

/* Reason why a context could not be created; empty if it was, or if there are no such devices. */
struct reason {
    char text[256];
};

static CLCONTEXT *open_standard(int number, struct reason *why)
{
    clerrno = 0;
    CLCONTEXT *context = number == 0   ? stddev
                         : number == 1 ? stdcpu
                         : number == 2 ? stdgpu
                                       : stdacc;
    snprintf(why->text, sizeof why->text, "%s", context || !clerrno ? "" : cli_reason());
    return context;
}

/* Fail if the list may be incomplete. */
static int check_listed_devices(const struct cli_devices *devices,
                                const struct reason why[CONTEXTS])
{
    for (size_t i = 0; i < devices->n; i++)
        if (devices->item[i].error)
            return cli_failed("cannot query device %zu: %s", i,
                              oclerror_str(devices->item[i].error));
    for (int i = 0; i < CONTEXTS; i++)
        if (*why[i].text)
            return cli_failed("cannot create the context %s: %s", context_name[i], why[i].text);
    return CLI_DONE;
}

static int cmd_devices_run(int argc, char **argv)
{
    bool json = false;
    int status;
    struct cli_option options[] = {
        CLI_FLAG(0, "json", &json, "report as one JSON object on standard output"),
        CLI_END,
    };
    const struct cli_usage usage = {
        .synopsis = "[--json]",
        .about =
            "Lists the OpenCL devices of this machine by platform: number and name (for --device), properties, and the standard contexts of the library that contain the device. Under mpirun or srun it lists the devices of all hosts.",
        .options = options,
    };
    struct cli_devices devices;
    if (!cli_parse(&usage, argc, argv, &status))
        return status;
    if ((status = cli_devices_find(&devices)) != CLI_DONE)
        return status;
    struct reason why[CONTEXTS];
    CLCONTEXT *context[CONTEXTS];
    for (int i = 0; i < CONTEXTS; i++)
        context[i] = open_standard(i, &why[i]);
    struct detail *detail = cli_alloc(devices.n, sizeof *detail);
    for (size_t i = 0; i < devices.n; i++) {
        const cl_int error = query_device(devices.item[i].id, context, &detail[i]);
        devices.item[i].error = error ? error : devices.item[i].error;
    }
    status = json ? devices_report_json(&devices, detail) : devices_report_table(&devices, detail);
    if (status == CLI_DONE)
        status = check_listed_devices(&devices, why);
    free(detail);
    cli_devices_free(&devices);
    return status;
}

const struct cli_command cmd_devices = {"devices", "list the OpenCL devices of this machine",
                                        cmd_devices_run, CLI_RANKS_COLLECTIVE};
