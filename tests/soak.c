/* soak.c - repeat launches, create and free contexts and engines; nothing may grow. `make soak`.
 *   usage: soak LAUNCHES CONTEXTS SECONDS      SECONDS: for the engines
 *
 * Twice in each part, after a fifth of the rounds and at the end, it measures what our code
 * holds (leak_count.h: bytes and events; OpenCL objects), the memory of the process, and its
 * numbers of descriptors and threads. All but memory must be constant. Memory may grow by the
 * growth of the part's baseline (the same OpenCL calls without the layer, for the same rounds or
 * time, so the growth is the driver's) and by a small allowance for fragmentation. The baseline
 * of engines builds the programs that the engines build.
 * SPDX-License-Identifier: MIT
 */
#include "leak_count.h"

#include "core/clock.h"
#include "stdcl/arrays.h"
#include "stdcl/gas.h"
#include "stdcl/life.h"
#include "stdcl/matmul.h"
#include "stdcl/nbody.h"

#include <dirent.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <unistd.h>

enum { BATCH = 100, ITEMS = 64, SLACK_KIB = 2048 };

static const char source[] =
    "__kernel void add(__global int *x, int a) { x[get_global_id(0)] += a; }\n";

static void soak_need(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "soak: %s: %s\n", what, clerror() ? clerror() : "no reason is known");
    exit(1);
}

/* ---- Objects of OpenCL that our code has made and not released, by ld's --wrap. -------------- */

static atomic_long objects;

#define MADE(type, name, parameters, arguments)                                                    \
    type __real_##name parameters;                                                                 \
    type __wrap_##name parameters;                                                                 \
    type __wrap_##name parameters                                                                  \
    {                                                                                              \
        type made = __real_##name arguments;                                                       \
        atomic_fetch_add(&objects, made != NULL);                                                  \
        NOTE(name)                                                                                 \
        return made;                                                                               \
    }

#define RELEASED(name, type)                                                                       \
    cl_int __real_##name(type it);                                                                 \
    cl_int __wrap_##name(type it);                                                                 \
    cl_int __wrap_##name(type it)                                                                  \
    {                                                                                              \
        atomic_fetch_sub(&objects, 1);                                                             \
        return __real_##name(it);                                                                  \
    }

/* Programs of one round of engines, as built. */
enum { PROGRAMS = 100 };
static struct {
    cl_program made;
    char *text, *options;
} noted[PROGRAMS];
static int programs;
static bool noting;

static void note_program(cl_program made, cl_uint n, const char **text, const size_t *length)
{
    size_t size = 1;
    if (!noting)
        return;
    soak_need(programs < PROGRAMS, "more programs than there is room for");
    for (cl_uint i = 0; i < n; i++)
        size += length && length[i] ? length[i] : strlen(text[i]);
    char *all = calloc(size, 1);
    soak_need(all != NULL, "memory");
    for (cl_uint i = 0; i < n; i++)
        strncat(all, text[i], length && length[i] ? length[i] : strlen(text[i]));
    noted[programs].made = made;
    noted[programs++].text = all;
}

#define NOTE(name)
MADE(cl_context, clCreateContext,
     (const cl_context_properties *what, cl_uint n, const cl_device_id *id,
      void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *), void *data,
      cl_int *err),
     (what, n, id, notify, data, err))
MADE(cl_command_queue, clCreateCommandQueue,
     (cl_context c, cl_device_id id, cl_command_queue_properties what, cl_int *err),
     (c, id, what, err))
MADE(cl_mem, clCreateBuffer,
     (cl_context c, cl_mem_flags flags, size_t size, void *host, cl_int *err),
     (c, flags, size, host, err))
MADE(cl_mem, clCreateSubBuffer,
     (cl_mem m, cl_mem_flags flags, cl_buffer_create_type type, const void *what, cl_int *err),
     (m, flags, type, what, err))
MADE(cl_kernel, clCreateKernel, (cl_program p, const char *name, cl_int *err), (p, name, err))
#undef NOTE
#define NOTE(name) note_program(made, n, text, length);
MADE(cl_program, clCreateProgramWithSource,
     (cl_context c, cl_uint n, const char **text, const size_t *length, cl_int *err),
     (c, n, text, length, err))

cl_int __real_clRetainProgram(cl_program p);
cl_int __wrap_clRetainProgram(cl_program p);
cl_int __wrap_clRetainProgram(cl_program p)
{
    const cl_int err = __real_clRetainProgram(p);
    atomic_fetch_add(&objects, err == CL_SUCCESS);
    return err;
}

RELEASED(clReleaseContext, cl_context)
RELEASED(clReleaseCommandQueue, cl_command_queue)
RELEASED(clReleaseMemObject, cl_mem)
RELEASED(clReleaseProgram, cl_program)
RELEASED(clReleaseKernel, cl_kernel)

cl_int __real_clBuildProgram(cl_program p, cl_uint n, const cl_device_id *id, const char *options,
                             void(CL_CALLBACK *notify)(cl_program, void *), void *data);
cl_int __wrap_clBuildProgram(cl_program p, cl_uint n, const cl_device_id *id, const char *options,
                             void(CL_CALLBACK *notify)(cl_program, void *), void *data);
cl_int __wrap_clBuildProgram(cl_program p, cl_uint n, const cl_device_id *id, const char *options,
                             void(CL_CALLBACK *notify)(cl_program, void *), void *data)
{
    for (int i = 0; noting && i < programs; i++)
        if (noted[i].made == p && !noted[i].options)
            soak_need((noted[i].options = strdup(options ? options : "")) != NULL, "memory");
    return __real_clBuildProgram(p, n, id, options, notify, data);
}

/* ---- What the process has. ------------------------------------------------------------------- */

struct state {
    long bytes, events, objects, resident_kib, descriptors, threads;
};

static long entries(const char *folder)
{
    long n = 0;
    DIR *dir = opendir(folder);
    while (dir && readdir(dir))
        n++;
    if (dir)
        closedir(dir);
    return n;
}

static struct state note_memory(void)
{
    long pages = 0;
    malloc_trim(0);
    FILE *fp = fopen("/proc/self/statm", "r");
    soak_need(fp && fscanf(fp, "%*d %ld", &pages) == 1, "/proc/self/statm");
    fclose(fp);
    return (struct state){leak_count_bytes(),       leak_count_events(),
                          atomic_load(&objects),    pages * (sysconf(_SC_PAGESIZE) / 1024),
                          entries("/proc/self/fd"), entries("/proc/self/task")};
}

/* ---- A part: rounds, and how much the process grew. ------------------------------------------ */

struct part {
    const char *name;
    void (*round)(void);
    long rounds; /* 0: until `seconds` have passed */
    double seconds;
    long done; /* rounds between the two looks */
    struct state before, after;
};

/* Fraction of the rounds, or of the time; at least two rounds. */
static void run_until(struct part *p, double share, double begun)
{
    const long rounds = (long)((double)p->rounds * share);
    for (p->done = 0;
         p->done < 2 || (p->rounds ? p->done < rounds : seconds_now() - begun < p->seconds * share);
         p->done++)
        p->round();
}

static void soak_run(struct part *p)
{
    const double begun = seconds_now();
    run_until(p, 0.2, begun);
    p->before = note_memory();
    run_until(p, p->rounds ? 0.8 : 1, begun);
    p->after = note_memory();
    printf(
        "%-15s %8ld rounds %7.1f s  own bytes %+ld  events %+ld  objects %+ld  memory %+ld KiB of %ld  descriptors %+ld  threads %+ld\n",
        p->name, p->done, seconds_now() - begun, p->after.bytes - p->before.bytes,
        p->after.events - p->before.events, p->after.objects - p->before.objects,
        p->after.resident_kib - p->before.resident_kib, p->after.resident_kib,
        p->after.descriptors - p->before.descriptors, p->after.threads - p->before.threads);
    fflush(stdout);
}

static double soak_growth(const struct part *p)
{
    return p->done ? (double)(p->after.resident_kib - p->before.resident_kib) / (double)p->done : 0;
}

/* True if a part does not grow; `baseline` may be NULL. */
static bool flat(const struct part *p, const struct part *baseline)
{
    const double allowed =
        SLACK_KIB +
        (baseline && soak_growth(baseline) > 0 ? 1.2 * soak_growth(baseline) * (double)p->done : 0);
    const bool same = p->after.bytes <= p->before.bytes && p->after.events == p->before.events &&
                      p->after.objects == p->before.objects &&
                      p->after.descriptors == p->before.descriptors &&
                      p->after.threads == p->before.threads;
    const bool fits = (double)(p->after.resident_kib - p->before.resident_kib) <= allowed;
    if (!same || !fits)
        fprintf(stderr, "soak: %s: %s\n", p->name,
                same ? "memory grew" : "what the process holds changed");
    return same && fits;
}

/* ---- Launches. ------------------------------------------------------------------------------- */

static CLCONTEXT *cp;
static int *x;
static cl_kernel kernel;

static void soak_launch(void)
{
    clndrange_t range = clndrange_init1d(0, ITEMS, 1);
    for (int i = 0; i < BATCH; i++)
        soak_need(clforka(cp, 0, kernel, &range, CL_EVENT_NOWAIT, x, 1) != (cl_event)-1,
                  "a launch");
    soak_need(clwait(cp, 0, CL_ALL_EVENT) != (cl_event)-1, "waiting for launches");
}

static bool soak_launches(long count)
{
    struct part part = {.name = "launches", .round = soak_launch, .rounds = count / BATCH};
    cp = clcontext_create_from((cl_device_id[]){clgetdevice(stddev, 0)}, 1);
    soak_need(cp && (x = clmalloc(cp, ITEMS * sizeof *x, 0)), "a context");
    void *program = clsopen(cp, source, CLLD_NOW);
    soak_need(program && (kernel = clsym(cp, program, "add", CLLD_NOW)), "a kernel");
    soak_need(clmsync(cp, 0, x, CL_MEM_DEVICE) != (cl_event)-1, "a copy");
    soak_run(&part);
    soak_need(clmsync(cp, 0, x, CL_MEM_HOST) != (cl_event)-1, "a copy back");
    soak_need(x[ITEMS - 1] == (int)(count / BATCH * BATCH), "the sum of all launches");
    clclose(cp, program);
    clfree(x);
    clcontext_destroy(cp);
    return flat(&part, NULL);
}

/* ---- Contexts, and their baseline. ----------------------------------------------------------- */

/* Every tenth context builds a program. */
enum { CONTEXTS_A_PROGRAM = 10 };

static void context(void)
{
    static long number;
    clndrange_t range = clndrange_init1d(0, ITEMS, 1);
    CLCONTEXT *c = clcontext_create_from((cl_device_id[]){clgetdevice(stddev, 0)}, 1);
    int *block = c ? clmalloc(c, ITEMS * sizeof *block, 0) : NULL;
    soak_need(block && clmsync(c, 0, block, CL_MEM_DEVICE) != (cl_event)-1, "a context's block");
    if (number++ % CONTEXTS_A_PROGRAM == 0) {
        void *program = clsopen(c, source, CLLD_NOW);
        cl_kernel k = program ? clsym(c, program, "add", CLLD_NOW) : NULL;
        soak_need(k && clforka(c, 0, k, &range, CL_EVENT_WAIT, block, 7) != (cl_event)-1,
                  "a context's launch");
        soak_need(clmsync(c, 0, block, CL_MEM_HOST) != (cl_event)-1 && block[ITEMS - 1] == 7,
                  "a context's result");
        clclose(c, program);
    }
    clfree(block);
    clcontext_destroy(c);
}

static void launch_baseline(cl_context c, cl_device_id device, cl_command_queue queue,
                            cl_mem buffer)
{
    static const int seven = 7;
    const size_t items = ITEMS, one = 1;
    const char *text = source;
    cl_program program = clCreateProgramWithSource(c, 1, &text, NULL, NULL);
    clBuildProgram(program, 1, &device, "", NULL, NULL);
    cl_kernel k = clCreateKernel(program, "add", NULL);
    clSetKernelArg(k, 0, sizeof buffer, &buffer);
    clSetKernelArg(k, 1, sizeof seven, &seven);
    soak_need(clEnqueueNDRangeKernel(queue, k, 1, NULL, &items, &one, 0, NULL, NULL) == CL_SUCCESS,
              "the baseline's launch");
    clFinish(queue);
    clReleaseKernel(k);
    clReleaseProgram(program);
}

static void context_baseline(void)
{
    static long number;
    static int block[ITEMS];
    cl_device_id device = clgetdevice(stddev, 0);
    cl_context c = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
    cl_command_queue queue = clCreateCommandQueue(c, device, CL_QUEUE_PROFILING_ENABLE, NULL);
    cl_mem buffer = clCreateBuffer(c, CL_MEM_READ_WRITE, sizeof block, NULL, NULL);
    clEnqueueWriteBuffer(queue, buffer, CL_TRUE, 0, sizeof block, block, 0, NULL, NULL);
    if (number++ % CONTEXTS_A_PROGRAM == 0)
        launch_baseline(c, device, queue, buffer);
    soak_need(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, sizeof block, block, 0, NULL, NULL) ==
                  CL_SUCCESS,
              "the baseline");
    clReleaseMemObject(buffer);
    clReleaseCommandQueue(queue);
    clReleaseContext(c);
}

static bool contexts(long count)
{
    struct part baseline = {
        .name = "contexts, baseline", .round = context_baseline, .rounds = count};
    struct part part = {.name = "contexts", .round = context, .rounds = count};
    soak_run(&baseline);
    soak_run(&part);
    return flat(&part, &baseline);
}

/* ---- Engines. -------------------------------------------------------------------------------- */

static void one_nbody(void)
{
    enum { N = 65 };
    static double mass[N], pos[N][3], vel[N][3];
    struct nbody_diagnostics d;
    soak_need(nbody_initial(NBODY_PLUMMER, N, 1, mass, pos, vel) == 0, "bodies");
    nbody *nb = nbody_create(&(struct nbody_options){.ctx = cp, .eps = 0.05, .dt = 0.001}, N, mass,
                             (const double(*)[3])pos, (const double(*)[3])vel);
    soak_need(nb && nbody_step(nb, 3) == 0 && nbody_diagnose(nb, &d) == 0, "nbody");
    nbody_free(nb);
}

static void one_life(void)
{
    uint64_t alive;
    life *lf = life_create(&(struct life_options){.ctx = cp, .width = 130, .height = 67});
    soak_need(lf && life_soup(lf, 0, 1) == 0 && life_step(lf, 5) == 0 &&
                  life_population(lf, &alive) == 0,
              "life");
    life_free(lf);
}

static void one_matmul(void)
{
    enum { N = 65 };
    static float a[N * N], b[N * N], c[N * N];
    matmul *mm = matmul_create(&(struct matmul_options){.ctx = cp});
    soak_need(mm && matmul_multiply(mm, MATMUL_NT, N, N, N, 1, a, N, b, N, 0, c, N) == 0, "matmul");
    matmul_free(mm);
}

static void one_gas(void)
{
    struct gas_energy energy;
    gas *g = gas_create(&(struct gas_options){.ctx = cp, .n = 5000, .storage = GAS_STORED});
    soak_need(g && gas_measure(g, &energy) == 0, "gas");
    gas_free(g);
}

static void one_array(void)
{
    double sum;
    float *v = clmalloc(cp, 5000 * sizeof *v, 0);
    arrays *a = arrays_create(&(struct arrays_options){.ctx = cp});
    soak_need(v && a && arrays_upload(a, v, 5000) == 0 && arrays_sum(a, v, 5000, &sum) == 0,
              "arrays");
    arrays_free(a);
    clfree(v);
}

static void engines_of_a_round(void)
{
    one_nbody();
    one_life();
    one_matmul();
    one_gas();
    one_array();
}

/* Build what a round of engines builds, create every kernel, and release all. */
static void engines_baseline(void)
{
    cl_device_id device = clgetdevice(stddev, 0);
    cl_context c = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
    for (int i = 0; i < programs; i++) {
        const char *text = noted[i].text;
        cl_kernel kernels[64];
        cl_uint n = 0;
        cl_program p = clCreateProgramWithSource(c, 1, &text, NULL, NULL);
        soak_need(p && clBuildProgram(p, 1, &device, noted[i].options, NULL, NULL) == CL_SUCCESS &&
                      clCreateKernelsInProgram(p, 64, kernels, &n) == CL_SUCCESS,
                  "a program of the baseline");
        atomic_fetch_add(&objects, (long)n);
        for (cl_uint k = 0; k < n; k++)
            clReleaseKernel(kernels[k]);
        clReleaseProgram(p);
    }
    clReleaseContext(c);
}

static bool soak_engines(double seconds)
{
    struct part baseline = {
        .name = "engines, baseline", .round = engines_baseline, .seconds = seconds};
    struct part part = {.name = "engines", .round = engines_of_a_round, .seconds = seconds};
    cp = clcontext_create_from((cl_device_id[]){clgetdevice(stddev, 0)}, 1);
    soak_need(cp, "a context");
    noting = true;
    engines_of_a_round();
    noting = false;
    soak_run(&part);
    soak_run(&baseline);
    clcontext_destroy(cp);
    return flat(&part, &baseline);
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        fprintf(stderr, "usage: soak LAUNCHES CONTEXTS SECONDS\n");
        return 2;
    }
    if (!stddev) {
        printf("SKIPPED: there is no OpenCL device\n");
        return 77;
    }
    const bool a = soak_launches(atol(argv[1])), b = contexts(atol(argv[2])),
               c = soak_engines(atof(argv[3]));
    return a && b && c ? 0 : 1;
}
