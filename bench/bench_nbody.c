/* bench_nbody.c - interactions per second of the N-body engine.
 *
 *   bench_nbody [--device cpu|gpu|NAME] [--devices K] [--n N,N,...]
 *               [--precision single|double|mixed] [--integrator NAME]
 *               [--method direct|tree] [--accuracy X] [--shape "KEY=NUMBER ..."]
 *               [--sweep "KEY=V,V,... KEY=V,..."] [--seconds S] [--no-peer]
 *               [--equal-masses] [--checksum] [--held] [--structure]
 *
 * For every N and every shape: compare the forces of some bodies with plain C in double precision,
 * then time whole steps in five runs of S seconds (0.3), and print best and median. A tree on
 * several devices is timed after 40 to 64 steps: they balance its domains. The peer, measured in
 * the same run, is the tiled kernel of the classic GPU tutorial; in double precision on CPUs also
 * the same sums in intrinsics, alternating with steps. Of these two, of_intrinsics compares elapsed
 * time, and of_intrinsics_cpu CPU time, which other load does not affect. The limit is
 * nbody_peak_rate's; a fraction of more than 100 % is not printed, since the device was busy while
 * its peak was measured. Masses differ unless --equal-masses, which saves an instruction. With the
 * tree, the rate is in bodies per second, the errors are of 1,000 bodies' accelerations, and
 * --checksum covers all positions after two steps. Standard error has the seconds to create bodies
 * and engine.
 * --held, with the tree: how much longer a step takes after a checkpoint snapshot that another
 * thread fetches meanwhile (median and maximum of five), and how long saving at once takes.
 * --structure: the time to find the centre of density, Lagrange radii, binaries and so on, on the
 * device and on the host (best of five). --sweep tries all combinations. Output: one line per case
 * of "key=value" words, for grep.
 * SPDX-License-Identifier: MIT
 */
#include "bench/common.h"
#include "bench/nbody_intrinsics.h"
#include "core/clock.h"
#include "stdcl/nbody.h"

#include <math.h>
#include <pthread.h>
#include <stdbool.h>

enum { SAMPLES = 64, TREE_SAMPLES = 1000, RUNS = 5 };

struct options {
    const char *device, *n, *shape, *sweep;
    unsigned devices;
    double seconds;
    bool peer, equal_masses, checksum, held, structure;
    struct nbody_options engine;
};

/* ---- Bodies, and the right answer for some of them. ------------------------------------------ */

struct bodies {
    size_t n;
    double *mass, (*pos)[3], (*vel)[3], (*acc)[3];
};

static struct bodies make_bench_bodies(size_t n, bool equal_masses)
{
    struct bodies b = {n, malloc(n * sizeof *b.mass), malloc(n * sizeof *b.pos),
                       malloc(n * sizeof *b.vel), malloc(n * sizeof *b.acc)};
    if (!b.mass || !b.pos || !b.vel || !b.acc ||
        nbody_initial(NBODY_PLUMMER, n, 1, b.mass, b.pos, b.vel) != 0)
        die("no bodies");
    for (size_t i = 0; i < n && !equal_masses; i++)
        b.mass[i] *= 0.75 + 0.5 * (double)(i % 5) / 4;
    return b;
}

static void free_bodies(struct bodies *b)
{
    free(b->mass);
    free(b->pos);
    free(b->vel);
    free(b->acc);
}

/* A host that holds the bodies of several GPUs has room for little else. */
static void forget_bodies(struct bodies *b)
{
    free(b->pos);
    free(b->vel);
    b->pos = b->vel = NULL;
}

static void plain_force(const struct bodies *b, double eps, size_t i, double acc[3])
{
    acc[0] = acc[1] = acc[2] = 0;
    for (size_t j = 0; j < b->n; j++) {
        double d[3], r2 = eps * eps;
        for (int c = 0; c < 3; c++) {
            d[c] = b->pos[j][c] - b->pos[i][c];
            r2 += d[c] * d[c];
        }
        for (int c = 0; c < 3 && j != i; c++)
            acc[c] += b->mass[j] * d[c] / (r2 * sqrt(r2));
    }
}

/* The root mean square of the relative errors of SAMPLES bodies. */
static double force_error(nbody *nb, struct bodies *b, double eps)
{
    double sum = 0;
    size_t count = 0;
    if (nbody_forces(nb, b->acc, NULL) != 0)
        die("forces");
    for (size_t i = 0; i < b->n; i += b->n / SAMPLES + 1, count++) {
        double right[3], error = 0, size = 0;
        plain_force(b, eps, i, right);
        for (int c = 0; c < 3; c++) {
            error += (b->acc[i][c] - right[c]) * (b->acc[i][c] - right[c]);
            size += right[c] * right[c];
        }
        sum += size > 0 ? error / size : 0;
    }
    return sqrt(sum / (double)count);
}

/* ---- Timing. --------------------------------------------------------------------------------- */

/* Sorted seconds per call of run(arg, count), RUNS of them, each of about `seconds` in all. */
static void time_nbody_runs(void (*run)(void *arg, size_t count), void *arg, double seconds,
                            double out[RUNS])
{
    size_t count = 1;
    run(arg, 1);
    for (;;) {
        const double start = seconds_now();
        run(arg, count);
        const double took = seconds_now() - start;
        if (took > seconds / 3) {
            count = (size_t)fmax(1, (double)count * seconds / took);
            break;
        }
        count *= 2;
    }
    for (int r = 0; r < RUNS; r++) {
        const double start = seconds_now();
        run(arg, count);
        out[r] = (seconds_now() - start) / (double)count;
    }
    sort_up(out, RUNS);
}

static void run_steps(void *arg, size_t count)
{
    if (nbody_step(arg, count) != 0)
        die("steps");
}

/* ---- The peer: forces by tiles of 256 positions in local memory, one body an item. ----------- */

static const char peer_source[] =
    "kernel void peer(int n, float eps2, global const float4 *p, global float4 *a, local float4 *tile) {\n"
    "    int lid = get_local_id(0), nt = get_local_size(0);\n"
    "    float4 me = p[get_global_id(0)], f = (float4)(0.0f);\n"
    "    for (int jb = 0; jb < n; jb += nt) {\n"
    "        tile[lid] = p[jb + lid];\n"
    "        barrier(CLK_LOCAL_MEM_FENCE);\n"
    "        for (int j = 0; j < nt; j++) {\n"
    "            float4 q = tile[j], d = q - me;\n"
    "            float r = rsqrt(d.x * d.x + d.y * d.y + d.z * d.z + eps2);\n"
    "            f += q.w * r * r * r * d;\n"
    "        }\n"
    "        barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    }\n"
    "    a[get_global_id(0)] = f;\n"
    "}\n";

struct peer {
    CLCONTEXT *ctx;
    cl_kernel kernel;
    size_t n;
    float *pos, *acc;
};

static void run_nbody_peer(void *arg, size_t count)
{
    struct peer *p = arg;
    const size_t group = 256;
    clndrange_t ndr = clndrange_init1d(0, p->n, group);
    for (size_t i = 0; i < count; i++)
        if (clforka(p->ctx, 0, p->kernel, &ndr, CL_EVENT_NOWAIT, (int)p->n, 1e-4f, p->pos, p->acc,
                    clarg_local(group * 4 * sizeof(float))) == (cl_event)-1)
            die("peer");
    clwait(p->ctx, 0, CL_ALL_EVENT);
}

/* Interactions per second of the peer's kernel alone, on the first device. */
static double measure_peer(CLCONTEXT *ctx, const struct bodies *b, double seconds)
{
    struct peer p = {.ctx = ctx, .n = (b->n + 255) / 256 * 256};
    double times[RUNS];
    void *program = clsopen(ctx, peer_source, CLLD_NOW);
    p.kernel = program ? clsym(ctx, program, "peer", 0) : NULL;
    p.pos = clmalloc(ctx, p.n * 4 * sizeof(float), 0);
    p.acc = clmalloc(ctx, p.n * 4 * sizeof(float), 0);
    if (!p.kernel || !p.pos || !p.acc)
        die("peer");
    for (size_t i = 0; i < b->n; i++)
        for (size_t c = 0; c < 4; c++)
            p.pos[4 * i + c] = (float)(c < 3 ? b->pos[i][c] : b->mass[i]);
    clmsync(ctx, 0, p.pos, CL_MEM_DEVICE);
    time_nbody_runs(run_nbody_peer, &p, seconds, times);
    clfree(p.pos);
    clfree(p.acc);
    clclose(ctx, program);
    return (double)b->n * (double)b->n / times[0];
}

/* ---- The peer on CPUs: intrinsics, in turns with the engine. --------------------------------- */

struct turns {
    size_t n;
    double eps, (*posm)[4], (*acc)[3];
    unsigned threads;
};

static void run_intrinsics(void *arg, size_t count)
{
    struct turns *t = arg;
    while (count-- > 0)
        if (intrinsics_forces(t->n, t->eps, (const double(*)[4])t->posm, t->acc, t->threads) != 0)
            die("intrinsics");
}

/* Elapsed and CPU seconds of one call of run(arg, 1). */
static void time_both(void (*run)(void *arg, size_t count), void *arg, double *passed,
                      double *worked)
{
    const double start = seconds_now(), work = 1e-9 * (double)ns_of_clock(CLOCK_PROCESS_CPUTIME_ID);
    run(arg, 1);
    *passed = seconds_now() - start;
    *worked = 1e-9 * (double)ns_of_clock(CLOCK_PROCESS_CPUTIME_ID) - work;
}

/* Print the engine's speed relative to the intrinsics. */
static void compare_intrinsics(nbody *nb, const struct bodies *b, double eps, unsigned threads)
{
    enum { TURNS = 9 };
    double time[4][TURNS]; /* passed and worked, of the engine and the peer */
    struct turns t = {b->n, eps, malloc(b->n * sizeof *t.posm), malloc(b->n * sizeof *t.acc),
                      threads};
    if (!t.posm || !t.acc)
        die("out of memory");
    for (size_t i = 0; i < b->n; i++)
        for (size_t c = 0; c < 4; c++)
            t.posm[i][c] = c < 3 ? b->pos[i][c] : b->mass[i];
    for (int r = 0; r < TURNS; r++) {
        time_both(run_steps, nb, &time[0][r], &time[1][r]);
        time_both(run_intrinsics, &t, &time[2][r], &time[3][r]);
    }
    double right[3];
    plain_force(b, eps, b->n / 2, right);
    if (!(fabs(t.acc[b->n / 2][0] - right[0]) <= 1e-11 * fabs(right[0])))
        die("the intrinsics are wrong");
    const double pairs = (double)b->n * (double)b->n, passed = bench_median(time[2], TURNS),
                 worked = bench_median(time[3], TURNS);
    printf(
        " intrinsics=\"%s, %u threads, forces only\" intrinsics_ginteractions_per_s=%.2f of_intrinsics=%.3f "
        "of_intrinsics_cpu=%.3f",
        intrinsics_called(), threads, 1e-9 * pairs / passed, passed / bench_median(time[0], TURNS),
        worked / bench_median(time[1], TURNS));
    free(t.posm);
    free(t.acc);
}

/* ---- Structure. ------------------------------------------------------------------------------ */

static double structure_seconds(CLCONTEXT *ctx, const struct bodies *b, double *core)
{
    double best = INFINITY;
    for (int r = 0; r < RUNS; r++) {
        struct nbody_shell shell[] = {{.fraction = 0.1}, {.fraction = 0.5}, {.fraction = 0.9}};
        struct nbody_structure s;
        const double(*pos)[3] = (const double(*)[3])b->pos, (*vel)[3] = (const double(*)[3])b->vel;
        const double start = seconds_now();
        if ((ctx ? nbody_find_structure_device(ctx, 0, b->n, 1, b->mass, pos, vel, b->mass, 3,
                                               shell, &s)
                 : nbody_find_structure(b->n, 1, b->mass, pos, vel, b->mass, 3, shell, &s)) != 0)
            die("structure");
        best = fmin(best, seconds_now() - start);
        *core = s.core_radius;
        free(s.binary);
    }
    return best;
}

static void bench_structure(CLCONTEXT *ctx, const struct bodies *b)
{
    double core[2];
    const double device = structure_seconds(ctx, b, &core[0]),
                 host = structure_seconds(NULL, b, &core[1]);
    printf("n=%zu structure_device_ms=%.1f structure_host_ms=%.1f core_radius=%.9g,%.9g\n", b->n,
           1e3 * device, 1e3 * host, core[0], core[1]);
    fflush(stdout);
}

/* ---- Cases. ---------------------------------------------------------------------------------- */

/* One size of problem. */
struct problem {
    const struct options *o;
    struct bodies b;
    unsigned cpus; /* processors of the device, if it is a CPU */
};

/* Of all positions, two steps later. */
static unsigned long long force_checksum(nbody *nb, const struct bodies *b)
{
    unsigned long long sum = 1469598103934665603u, bits;
    if (nbody_step(nb, 2) != 0 || nbody_state(nb, b->acc, NULL) != 0)
        die("steps");
    for (size_t i = 0; i < 3 * b->n; i++) {
        memcpy(&bits, &b->acc[0][i], sizeof bits);
        sum = (sum ^ bits) * 1099511628211u;
    }
    return sum;
}

/* ---- Checkpoints. ---------------------------------------------------------------------------- */

struct fetching {
    nbody *nb;
    void *to;
    double seconds;
};

static void *fetch_forces(void *fetching)
{
    struct fetching *f = fetching;
    const double start = seconds_now();
    if (nbody_snapshot_read(f->nb, f->to) != 0)
        die("what was held");
    f->seconds = seconds_now() - start;
    return NULL;
}

static double seconds_per_step(nbody *nb)
{
    const double start = seconds_now();
    run_steps(nb, 1);
    return seconds_now() - start;
}

static void bench_held(nbody *nb)
{
    const size_t size = nbody_save_bytes(nb);
    double usual[RUNS], longer[RUNS];
    struct fetching f = {nb, malloc(size), 0};
    pthread_t thread;
    if (!f.to || nbody_snapshot_begin(nb) != 0 ||
        nbody_snapshot_read(nb, f.to) != 0) /* makes room */
        die("room for a checkpoint");
    run_steps(nb, 2);
    for (int r = 0; r < RUNS; r++)
        usual[r] = seconds_per_step(nb);
    sort_up(usual, RUNS);
    for (int r = 0; r < RUNS; r++) {
        const double start = seconds_now();
        if (nbody_snapshot_begin(nb) != 0 || pthread_create(&thread, NULL, fetch_forces, &f) != 0)
            die("hold");
        run_steps(nb, 1);
        longer[r] = seconds_now() - start - usual[RUNS / 2];
        pthread_join(thread, NULL);
    }
    sort_up(longer, RUNS);
    const double start = seconds_now();
    if (nbody_save(nb, f.to) != 0)
        die("save");
    printf(
        "held_bytes=%zu stopped_ms=%.1f stopped_ms_most=%.1f fetched_ms=%.1f save_ms=%.1f usual_step_ms=%.1f ",
        size, 1e3 * longer[RUNS / 2], 1e3 * longer[RUNS - 1], 1e3 * f.seconds,
        1e3 * (seconds_now() - start), 1e3 * usual[RUNS / 2]);
    free(f.to);
}

/* On several devices a tree balances its domains by their cost, repeatedly in the first steps. */
static void settle_tree(nbody *nb)
{
    enum { STEPS = 64, LEAST = 40, FEW = 4 };
    const double start = seconds_now(), most = 5;
    for (int k = 0;
         nbody_devices(nb) > 1 && k < STEPS && (k < LEAST || seconds_now() - start < most);
         k += FEW)
        run_steps(nb, FEW);
}

/* Tree: bodies per second, and the errors. */
static void bench_tree(nbody *nb, const struct options *o, const struct bodies *b)
{
    double times[RUNS];
    struct nbody_force_errors e = {0};
    if (nbody_check_forces(nb, TREE_SAMPLES, 1, &e) != 0)
        die("the check of forces");
    if (o->checksum)
        printf("checksum=%016llx ", force_checksum(nb, b));
    if (o->held)
        bench_held(nb);
    settle_tree(nb);
    time_nbody_runs(run_steps, nb, o->seconds, times);
    printf(
        "n=%zu method=tree accuracy=%g step_us=%.1f median_us=%.1f mbodies_per_s=%.2f error_median=%.2g error_p99=%.2g "
        "error_max=%.2g devices=%u bytes_per_body=%.1f shape=\"%s\"\n",
        b->n, o->engine.accuracy, 1e6 * times[0], 1e6 * times[RUNS / 2],
        1e-6 * (double)b->n / times[0], e.median, e.p99, e.most, nbody_devices(nb),
        (double)nbody_device_bytes(nb) / (double)b->n, nbody_shape(nb, 0));
    fflush(stdout);
    nbody_free(nb);
}

static void bench_nbody_case(void *arg, const char *shape)
{
    struct problem *p = arg;
    const struct options *o = p->o;
    struct bodies *b = &p->b;
    struct nbody_options engine = o->engine;
    double times[RUNS];
    engine.shape = shape;
    const double start = seconds_now();
    nbody *nb = nbody_create(&engine, b->n, b->mass, (const double(*)[3])b->pos,
                             (const double(*)[3])b->vel);
    if (!nb) {
        printf("n=%zu shape=\"%s\" failed: %s\n", b->n, shape ? shape : "", clerror());
        return;
    }
    if (nbody_method(nb) == NBODY_TREE) {
        fprintf(stderr, "# n=%zu: an engine in %.1f s\n", b->n, seconds_now() - start);
        if (!o->sweep)
            forget_bodies(b);
        bench_tree(nb, o, b);
        return;
    }
    const double error = force_error(nb, b, engine.eps);
    time_nbody_runs(run_steps, nb, o->seconds, times);
    const double pairs = (double)b->n * (double)b->n,
                 share = pairs / times[0] / nbody_peak_rate(nb);
    printf("n=%zu step_us=%.1f median_us=%.1f ginteractions_per_s=%.2f median=%.2f", b->n,
           1e6 * times[0], 1e6 * times[RUNS / 2], 1e-9 * pairs / times[0],
           1e-9 * pairs / times[RUNS / 2]);
    if (share <=
        1) /* else the device was busy while its peak was measured, or the peak is not known */
        printf(" limit_percent=%.1f", 100 * share);
    if (o->peer && p->cpus && engine.precision == NBODY_DOUBLE &&
        engine.integrator == NBODY_LEAPFROG && intrinsics_called())
        compare_intrinsics(nb, b, engine.eps, p->cpus);
    printf(" force_error=%.1e devices=%u device_bytes=%zu shape=\"%s\"\n", error, nbody_devices(nb),
           nbody_device_bytes(nb), shape && *shape ? shape : nbody_shape(nb, 0));
    fflush(stdout);
    nbody_free(nb);
}

static enum nbody_integrator integrator_called(const char *name)
{
    const struct nbody_integrator_info *info;
    for (int i = 0; (info = nbody_integrator_describe((enum nbody_integrator)i)); i++)
        if (strcmp(info->name, name) == 0)
            return (enum nbody_integrator)i;
    die("--integrator: there is none of that name");
}

static void parse_nbody_options(struct options *o, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const char *name = argv[i], *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (strcmp(name, "--structure") == 0) {
            o->structure = true;
            continue;
        }
        if (strcmp(name, "--checksum") == 0 || strcmp(name, "--held") == 0) {
            *(name[2] == 'c' ? &o->checksum : &o->held) = true;
            continue;
        }
        if (strcmp(name, "--no-peer") == 0 || strcmp(name, "--equal-masses") == 0) {
            *(name[2] == 'n' ? &o->peer : &o->equal_masses) = name[2] != 'n';
            continue;
        }
        if (!value)
            die("an option lacks its value, or is unknown");
        i++;
        if (strcmp(name, "--device") == 0)
            o->device = value;
        else if (strcmp(name, "--devices") == 0)
            o->devices = (unsigned)strtoul(value, NULL, 10);
        else if (strcmp(name, "--n") == 0)
            o->n = value;
        else if (strcmp(name, "--shape") == 0)
            o->shape = value;
        else if (strcmp(name, "--sweep") == 0)
            o->sweep = value;
        else if (strcmp(name, "--seconds") == 0)
            o->seconds = strtod(value, NULL);
        else if (strcmp(name, "--precision") == 0)
            o->engine.precision = *value == 'd'   ? NBODY_DOUBLE
                                  : *value == 'm' ? NBODY_MIXED
                                                  : NBODY_SINGLE;
        else if (strcmp(name, "--method") == 0)
            o->engine.method = *value == 't' ? NBODY_TREE : NBODY_DIRECT;
        else if (strcmp(name, "--accuracy") == 0)
            o->engine.accuracy = strtod(value, NULL);
        else if (strcmp(name, "--integrator") == 0)
            o->engine.integrator = integrator_called(value);
        else
            die(name);
    }
}

int main(int argc, char **argv)
{
    struct options o = {.n = "8192,16384,65536",
                        .shape = "",
                        .devices = 1,
                        .seconds = 0.3,
                        .peer = true,
                        .engine = {.eps = 0.01, .dt = 1e-4, .accuracy = 1e-3}};
    struct cldev_info info[64];
    parse_nbody_options(&o, argc, argv);
    o.engine.ctx = bench_open(o.device, o.devices);
    if (!o.engine.ctx || clgetndev(o.engine.ctx) > 64 || clgetdevinfo(o.engine.ctx, info) != 0)
        die("devices");
    printf("# device \"%s\" x %u, driver %s\n", info[0].dev_name, clgetndev(o.engine.ctx),
           info[0].dev_drv_version);
    for (const char *n = o.n; *n; n += strcspn(n, ","), n += *n == ',') {
        const double start = seconds_now();
        struct problem p = {&o, make_bench_bodies(strtoul(n, NULL, 10), o.equal_masses),
                            info[0].dev_type & CL_DEVICE_TYPE_CPU ? info[0].dev_max_core : 0};
        fprintf(stderr, "# n=%zu: bodies in %.1f s\n", p.b.n, seconds_now() - start);
        if (o.structure) {
            bench_structure(o.engine.ctx, &p.b);
            free_bodies(&p.b);
            continue;
        }
        if (o.peer)
            printf("n=%zu peer=\"tutorial's tiled kernel, forces only\" ginteractions_per_s=%.2f\n",
                   p.b.n, 1e-9 * measure_peer(o.engine.ctx, &p.b, o.seconds));
        sweep_shapes(o.shape, o.sweep, bench_nbody_case, &p);
        free_bodies(&p.b);
    }
    return 0;
}
