/* bench_lua.c - overhead of a call from Lua over C: launches and maps of OpenCL, forks and syncs
 * of the layer.
 *
 *   bench_lua PATH_OF_STDCL PATH_OF_BENCH_LUA_LUA
 *
 * Both make equal calls on the first device, alternately and in processes of their own. The result
 * is microseconds per call, the minimum of all rounds, since disturbances only add. The kernel
 * writes one number, so the difference is Lua's overhead. Goal: 2 us at most.
 * SPDX-License-Identifier: MIT
 */
#include "bench/common.h"
#include "core/clock.h"

enum { CALLS = 2000, ROUNDS = 15, KINDS = 4 };
static const char *const kind_name[KINDS] = {"launch", "map", "fork", "sync"};

/* The objects used by the calls, all on one device. */
static struct {
    cl_context context;
    cl_command_queue queue;
    cl_kernel kernel;
    cl_mem buffer;
    CLCONTEXT *cp;
    cl_kernel touch;
    float *x;
} on;

static const char source[] =
    "kernel void touch(global float *x, float y) { x[get_global_id(0)] = y; }";

static void open_lua_devices(void)
{
    cl_platform_id platform;
    cl_device_id device;
    const char *text = source;
    const float two = 2;
    if (clGetPlatformIDs(1, &platform, NULL) ||
        clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL))
        die("no OpenCL device");
    on.context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
    on.queue = clCreateCommandQueue(on.context, device, 0, NULL);
    const cl_program program = clCreateProgramWithSource(on.context, 1, &text, NULL, NULL);
    if (!on.queue || clBuildProgram(program, 0, NULL, NULL, NULL, NULL))
        die("cannot build");
    on.kernel = clCreateKernel(program, "touch", NULL);
    on.buffer = clCreateBuffer(on.context, CL_MEM_READ_WRITE, 4096, NULL, NULL);
    (clSetKernelArg)(on.kernel, 1, sizeof two, &two);
    on.cp = clcontext_create_from(&device, 1);
    on.x = clmalloc(on.cp, 4096, 0);
    on.touch = clsym(on.cp, clsopen(on.cp, source, CLLD_NOW), "touch", 0);
    if (!on.touch || !on.x)
        die("cannot open");
}

static void launch_by_c(void)
{
    const size_t one = 1;
    cl_event event;
    (clSetKernelArg)(on.kernel, 0, sizeof on.buffer, &on.buffer);
    if (clEnqueueNDRangeKernel(on.queue, on.kernel, 1, NULL, &one, &one, 0, NULL, &event))
        die("launch");
    clReleaseEvent(event);
}

static void map_by_c(void)
{
    cl_event event[2];
    void *p = clEnqueueMapBuffer(on.queue, on.buffer, CL_TRUE, CL_MAP_READ, 0, 4096, 0, NULL,
                                 &event[0], NULL);
    if (!p || clEnqueueUnmapMemObject(on.queue, on.buffer, p, 0, NULL, &event[1]))
        die("map");
    clReleaseEvent(event[0]);
    clReleaseEvent(event[1]);
}

static void finish_by_c(void)
{
    clFinish(on.queue);
}

static void fork_kernel(void)
{
    clndrange_t ndr = clndrange_init1d(0, 1, 1);
    if (clforka(on.cp, 0, on.touch, &ndr, CL_EVENT_NOWAIT, on.x, 2.0f) == (cl_event)-1)
        die("fork");
}

static void sync_block(void)
{
    if (clmsync(on.cp, 0, on.x, CL_MEM_DEVICE | CL_EVENT_WAIT) == (cl_event)-1)
        die("sync");
}

static void wait_lua_devices(void)
{
    clwait(on.cp, 0, CL_ALL_EVENT);
}

static double measure_call(void (*call)(void), void (*end)(void))
{
    double start = 0;
    for (int round = 0; round < 2; round++) {
        start = seconds_now();
        for (int i = 0; i < CALLS; i++)
            call();
        end();
    }
    return (seconds_now() - start) / CALLS * 1e6;
}

/* Print the lines that bench_lua.lua prints. */
static int print_c(void)
{
    static void (*const calls[KINDS])(void) = {launch_by_c, map_by_c, fork_kernel, sync_block};
    static void (*const ends[KINDS])(void) = {finish_by_c, finish_by_c, wait_lua_devices,
                                              wait_lua_devices};
    open_lua_devices();
    for (int i = 0; i < KINDS; i++)
        printf("%s %.17g\n", kind_name[i], measure_call(calls[i], ends[i]));
    return 0;
}

/* Run a command in a process of its own, as the other is, and read its lines "name microseconds".
 */
static void read_times(const char *line, double us[KINDS][ROUNDS], int round)
{
    char name[32];
    FILE *fp = popen(line, "r");
    for (int i = 0; i < KINDS; i++)
        if (!fp || fscanf(fp, "%31s %lf", name, &us[i][round]) != 2 || strcmp(name, kind_name[i]))
            die(line);
    if (pclose(fp))
        die(line);
}

static double least_seconds(const double *values, int n)
{
    double best = values[0];
    for (int i = 1; i < n; i++)
        best = values[i] < best ? values[i] : best;
    return best;
}

int main(int argc, char **argv)
{
    static double c[KINDS][ROUNDS], lua[KINDS][ROUNDS];
    char in_c[8192], in_lua[8192];
    struct cldev_info info;
    if (argc == 2 && !strcmp(argv[1], "c"))
        return print_c();
    if (argc < 3) {
        fputs("usage: bench_lua PATH_OF_STDCL PATH_OF_BENCH_LUA_LUA\n", stderr);
        return 2;
    }
    snprintf(in_c, sizeof in_c, "'%s' c", argv[0]);
    snprintf(in_lua, sizeof in_lua, "'%s' run '%s' %d", argv[1], argv[2], CALLS);
    for (int round = 0; round < ROUNDS; round++) {
        read_times(in_c, c, round);
        read_times(in_lua, lua, round);
    }
    clgetdevinfo(clcontext_create(NULL, (int)CL_DEVICE_TYPE_ALL, 1, NULL, 0), &info);
    printf("%s, driver %s; us per call, best of %d times %d calls\n", info.dev_name,
           info.dev_drv_version, ROUNDS, CALLS);
    printf("%-8s %8s %8s %8s\n", "", "C", "Lua", "more");
    for (int i = 0; i < KINDS; i++) {
        const double of_c = least_seconds(c[i], ROUNDS), of_lua = least_seconds(lua[i], ROUNDS);
        printf("%-8s %8.2f %8.2f %8.2f\n", kind_name[i], of_c, of_lua, of_lua - of_c);
    }
    return 0;
}
