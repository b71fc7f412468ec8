/* added_kernel.c - added forces on devices: the kernel with the files of the user, its table, and
 * launches; functions of files for bodies on the host.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/force/added.h"

#include "nbody/force/laws.cl"

EMBEDDED(step, "nbody/integrator/step.cl", nbody_integrator_step_cl);
EMBEDDED(laws, "nbody/force/laws.cl", nbody_force_laws_cl);
EMBEDDED(added, "nbody/force/added_forces.cl", nbody_force_added_forces_cl);

/* ---- Program and table. ---------------------------------------------------------------------- */

/* Write the files, each with its function under a name of its own, and the calls of all. The names
 * of parameters end with their file. */
static char *kernel_files_text(const struct added_forces *f)
{
    char *text = NULL;
    size_t size = 0;
    FILE *const fp = open_memstream(&text, &size);
    if (!fp)
        return NULL;
    fprintf(fp, "typedef REAL3 real3;\n");
    for (size_t k = f->laws; k < f->n; k++)
        fprintf(
            fp,
            "#define force user_force_%zu\nreal3 force(real3 position, real3 velocity, real mass, "
            "real time, uint index);\n%s#line 1 \"%s\"\n%s\n#undef force\n"
            "#undef FORCE_OF_POSITION\n%s",
            k - f->laws, f->force[k].before, f->force[k].file, f->force[k].text, f->force[k].after);
    fprintf(fp, "#line 1 \"calls\"\n#define ADDED_FILES(K, X, V, M, T, I, A) switch (K) {");
    for (size_t k = 0; k < f->n - f->laws; k++)
        fprintf(fp,
                " case %zu: { const real3 f = user_force_%zu(X, V, M, T, I); A[0] = f.x; A[1] = "
                "f.y; A[2] = f.z; break; }",
                k, k);
    fprintf(fp, " default: break; }\n");
    return fclose(fp) == 0 ? text : (free(text), NULL);
}

static int kernel_build(struct nbody *nb)
{
    struct added_forces *const f = nb->force.added;
    char *const text = kernel_files_text(f);
    if (!text)
        return clerror_set(ENOMEM, "nbody_create: out of memory on the host");
    const unsigned long size = strlen(text);
    const struct embedded files = {f->laws < f->n ? f->force[f->laws].file : "none",
                                   (const unsigned char *)text, &size};
    const struct embedded *const before[] = {&step, &laws, &files};
    f->program = embedded_open(
        nb->ctx, nbody_has_doubles(nb) ? "-D DOUBLE -D REAL3=double3" : "-D REAL3=float3", &added,
        COUNT_OF(before), before);
    free(text);
    f->kernel = f->program ? clsym(nb->ctx, f->program, "added_forces", 0) : NULL;
    return f->kernel ? 0 : -1;
}

/* Replace a message with the compiler's log by its first line about a file. */
static int kernel_explain(const struct added_forces *f)
{
    const int code = clerrno;
    const char *const text = clerror();
    char *const log = strdup(text ? text : "");
    for (size_t k = f->laws; log && k < f->n; k++) {
        char *const at = strstr(log, f->force[k].file);
        if (at) {
            at[strcspn(at, "\n")] = 0;
            clerror_set(code, "nbody_create: force %s", at);
            free(log);
            return -1;
        }
    }
    clerror_set(code, "nbody_create: forces from files do not build: %s", log ? log : "");
    free(log);
    return -1;
}

static void *kernel_memory(const struct nbody *nb, size_t numbers)
{
    return clmalloc(nb->ctx, numbers * nb->real, CL_MEM_ZEROCOPY);
}

/* Memory of the bodies of the host, for functions of files. */
static int kernel_open_host(struct nbody *nb)
{
    struct added_forces *const f = nb->force.added;
    if (f->laws == f->n || !nbody_runs_on_host(nb))
        return 0;
    f->host_posm = kernel_memory(nb, 4 * nb->n);
    f->host_state = kernel_memory(nb, 6 * nb->n);
    f->host_out = kernel_memory(nb, 3 * nb->n);
    f->host_own = kernel_memory(nb, 2 * nb->n);
    return f->host_posm && f->host_state && f->host_out && f->host_own ? 0 : -1;
}

int nbody_added_open(struct nbody *nb, bool on_devices)
{
    struct added_forces *const f = nb->force.added;
    if (nb->nforces == 0 || f->kernel || (!on_devices && f->laws == f->n))
        return 0;
    if (kernel_build(nb) != 0)
        return f->laws < f->n ? kernel_explain(f) : -1;
    if (kernel_open_host(nb) != 0)
        return -1;
    f->device_table = kernel_memory(nb, LAW_NUMBERS * (f->n + 1));
    f->order = clmalloc(nb->ctx, nb->padded * sizeof(cl_uint), CL_MEM_ZEROCOPY);
    if (!f->device_table || !f->order)
        return -1;
    for (struct nbody_device *p = nb->device; p < nb->device + nb->ndev; p++)
        if (p->rows &&
            !(p->force.added = nbody_device_alloc(nb, p, 2 * p->rows * nb->real, CL_MEM_DEVONLY)))
            return -1;
    return 0;
}

int nbody_added_upload(struct nbody *nb)
{
    struct added_forces *const f = nb->force.added;
    if (nb->nforces == 0)
        return 0;
    const double factor[LAW_NUMBERS] = {
        nbody_units_factor(&nb->units, 1, 0), nbody_units_factor(&nb->units, 1, -1),
        nbody_units_factor(&nb->units, 3, -2) / nb->G, nbody_units_factor(&nb->units, 0, 1),
        nbody_units_factor(&nb->units, -1, 2)};
    for (size_t k = 0; k < f->n; k++) {
        law_convert(nb, &f->force[k], f->table[k]);
        if (f->force[k].law == LAW_FILE)
            f->table[k][1] = (double)(k - f->laws);
    }
    if (!f->kernel)
        return 0;
    for (size_t i = 0; i < LAW_NUMBERS; i++)
        nbody_real_put(nb, f->device_table, i, factor[i]);
    for (size_t k = 0; k < f->n; k++)
        for (size_t i = 0; i < LAW_NUMBERS; i++)
            nbody_real_put(nb, f->device_table, LAW_NUMBERS * (k + 1) + i, f->table[k][i]);
    for (struct nbody_device *p = nb->device; p < nb->device + nb->ndev; p++)
        if (p->rows && clmsync(nb->ctx, p->dev, f->device_table, CL_MEM_DEVICE) == (cl_event)-1)
            return -1;
    return 0;
}

void added_kernel_free(struct nbody *nb)
{
    struct added_forces *const f = nb->force.added;
    void *const memory[] = {f->device_table, f->order,    f->host_posm,
                            f->host_state,   f->host_out, f->host_own};
    if (f->program)
        clclose(nb->ctx, f->program);
    for (size_t k = 0; k < COUNT_OF(memory); k++)
        clfree(memory[k]);
    for (cl_uint d = 0; nb->device && d < nb->ndev; d++)
        clfree(nb->device[d].force.added);
}

/* ---- Sums of the devices. -------------------------------------------------------------------- */

/* Time of the sum in progress, in engine units. */
static double kernel_time(const struct nbody *nb)
{
    const int stages = integrator_stages(nb), index = nb->force.index;
    const double *const ends = nb->integrator->ends;
    double time = nbody_engine_time(nb);
    if (index >= 0)
        time += nb->integration.dt * ((double)(index / stages) + (ends ? ends[index % stages] : 1));
    return time * nbody_units_factor(&nb->units, 0, -1);
}

/* Time from the stored velocities to the positions: half a step of leapfrog. */
static double kernel_lag(const struct nbody *nb)
{
    const bool between = nb->force.index >= 0 && nb->integrator->begin != NULL;
    return between && integrator_stages(nb) == 1 ? nbody_engine_dt(nb) / 2 : 0;
}

/* Send the order of sorted bodies to the devices after a sort. The sort has waited for all kernels,
 * so that none still reads the old order. */
static int kernel_send_order(struct nbody *nb)
{
    struct added_forces *const f = nb->force.added;
    if (!nb->particles.sorted || f->sorts == nb->particles.sort_count + 1)
        return 0;
    memcpy((cl_uint *)f->order + nbody_ranks_own_first(nb), nb->particles.body,
           nbody_ranks_own_rows(nb) * sizeof *nb->particles.body);
    for (struct nbody_device *p = nb->device; p < nb->device + nb->ndev; p++)
        if (p->rows && clmsync(nb->ctx, p->dev, f->order, CL_MEM_DEVICE) == (cl_event)-1)
            return -1;
    f->sorts = nb->particles.sort_count + 1;
    return 0;
}

static int kernel_launch(struct nbody *nb, struct nbody_device *p, enum sum_kind sum)
{
    const struct added_forces *const f = nb->force.added;
    const cl_uint first = (cl_uint)p->first, rows = (cl_uint)p->rows, count = (cl_uint)p->count,
                  n = (cl_uint)nb->n, planes = nbody_forces_sum_of(sum)->planes,
                  which_partial = p->force.npartial - 1, at = nbody_posm_first(p),
                  adds = nb->nfields > 0, from = 0, end = (cl_uint)f->n,
                  sorted = nb->particles.sorted;
    void *const out = sum == POTENTIALS ? p->force.phi : p->force.partial;
    return nbody_device_launch_1d(nb, p, f->kernel, p->count, 1,
                                  ARGS(nbody_posm(nb, p), p->state, f->order, sorted, out,
                                       p->force.added, at, first, rows, count, n, which_partial,
                                       planes, adds, f->device_table, from, end,
                                       REAL(nb, kernel_time(nb)), REAL(nb, kernel_lag(nb))));
}

int nbody_added_start(struct nbody *nb, enum sum_kind sum)
{
    if (nb->nforces == 0)
        return 0;
    if (kernel_send_order(nb) != 0)
        return -1;
    for (struct nbody_device *p = nb->device; p < nb->device + nb->ndev; p++)
        if (p->count && kernel_launch(nb, p, sum) != 0)
            return -1;
    return 0;
}

/* ---- Bodies of the host. --------------------------------------------------------------------- */

static struct nbody_device *kernel_device(const struct nbody *nb)
{
    struct nbody_device *p = nb->device;
    while (!p->rows)
        p++;
    return p;
}

static int kernel_send_bodies(struct nbody *nb, const struct nbody_device *p, const double (*v)[3])
{
    const struct added_forces *const f = nb->force.added;
    for (size_t i = 0; i < 4 * nb->n; i++)
        nbody_real_put(nb, f->host_posm, i, f->posm[i]);
    for (size_t i = 0; i < 3 * nb->n; i++)
        nbody_real_put(nb, f->host_state, (3 + i % 3) * nb->n + i / 3, v[i / 3][i % 3]);
    return clmsync(nb->ctx, p->dev, f->host_posm, CL_MEM_DEVICE) == (cl_event)-1 ||
                   clmsync(nb->ctx, p->dev, f->host_state, CL_MEM_DEVICE) == (cl_event)-1
               ? -1
               : 0;
}

int added_kernel_evaluate(struct nbody *nb, double time, const double (*v)[3], double (*a)[3])
{
    const struct added_forces *const f = nb->force.added;
    struct nbody_device *const p = kernel_device(nb);
    const cl_uint none = 0, n = (cl_uint)nb->n, planes = 3, from = (cl_uint)f->laws,
                  end = (cl_uint)f->n;
    if (kernel_send_bodies(nb, p, v) != 0 ||
        nbody_device_launch_1d(nb, p, f->kernel, nb->n, 1,
                               ARGS(f->host_posm, f->host_state, f->order, none, f->host_out,
                                    f->host_own, none, none, n, n, n, none, planes, none,
                                    f->device_table, from, end, REAL(nb, time), REAL(nb, 0))) !=
            0 ||
        nbody_device_download(nb, p, f->host_out, 3 * nb->n * nb->real) != 0)
        return -1;
    for (size_t i = 0; i < nb->n; i++)
        for (size_t c = 0; c < 3; c++) {
            const double sum = nbody_real_get(nb, f->host_out, c * nb->n + i);
            if (!isfinite(sum))
                return clerror_set(EDOM,
                                   "nbody_step: at time %g the forces from files give body %zu an "
                                   "acceleration of %g in %c; it must be finite",
                                   time * nbody_units_factor(&nb->units, 0, 1), nbody_number(nb, i),
                                   sum * nbody_units_factor(&nb->units, 1, -2), "xyz"[c]);
            a[i][c] += sum;
        }
    return 0;
}
