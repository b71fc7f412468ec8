/* same.c - saxpy of 1000 numbers and ten steps of 100 bodies, all bits printed; equal in five
 * languages.
 *   usage: same KERNEL_FILE
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <stdcl.h>
#include <stdcl/nbody.h>

enum { N = 1000, BODIES = 100 };

static void need_success(int ok)
{
    if (!ok) {
        fprintf(stderr, "%s\n", clerror());
        exit(1);
    }
}

static void run_saxpy(const char *file)
{
    CLCONTEXT *cp = stdgpu ? stdgpu : stdcpu;
    float *x = clmalloc(cp, N * sizeof *x, 0), *y = clmalloc(cp, N * sizeof *y, 0);
    need_success(x && y);
    for (int i = 0; i < N; i++) {
        x[i] = 1.0f / (float)(i + 1);
        y[i] = (float)i;
    }
    void *h = clopen(cp, file, CLLD_NOW);
    need_success(h != NULL);
    clndrange_t ndr = clndrange_init1d(0, N, 0);
    clmsync(cp, 0, x, CL_MEM_DEVICE | CL_EVENT_NOWAIT);
    clmsync(cp, 0, y, CL_MEM_DEVICE | CL_EVENT_NOWAIT);
    clforka(cp, 0, clsym(cp, h, "saxpy", 0), &ndr, CL_EVENT_NOWAIT, 0.1f, x, y);
    clmsync(cp, 0, y, CL_MEM_HOST | CL_EVENT_NOWAIT);
    need_success(!clwait(cp, 0, CL_ALL_EVENT));
    for (int i = 0; i < N; i++) {
        uint32_t bits;
        memcpy(&bits, &y[i], sizeof bits);
        printf("%08" PRIx32 "\n", bits);
    }
    clclose(cp, h);
    clfree(x);
    clfree(y);
}

static void print_rows(double (*row)[3])
{
    for (int i = 0; i < BODIES; i++)
        for (int k = 0; k < 3; k++) {
            uint64_t bits;
            memcpy(&bits, &row[i][k], sizeof bits);
            printf("%016" PRIx64 "\n", bits);
        }
}

static void gravity(void)
{
    static double mass[BODIES], pos[BODIES][3], vel[BODIES][3];
    need_success(!nbody_initial(NBODY_PLUMMER, BODIES, 1, mass, pos, vel));
    nbody *nb = nbody_create(&(struct nbody_options){.eps = 0.05, .dt = 1.0 / 64}, BODIES, mass,
                             (const double(*)[3])pos, (const double(*)[3])vel);
    need_success(nb && !nbody_step(nb, 10) && !nbody_state(nb, pos, vel));
    print_rows(pos);
    print_rows(vel);
    nbody_free(nb);
}

int main(int argc, char **argv)
{
    if (!stdgpu && !stdcpu) {
        puts("no device");
        return 77;
    }
    if (argc != 2)
        return 2;
    run_saxpy(argv[1]);
    gravity();
    return 0;
}
