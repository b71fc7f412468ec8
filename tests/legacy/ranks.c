/* ranks.c - three ranks on a node with two devices: with STDCPU_LOCK each claims one, and the third
 * has none. Ranks are MPI's with -DWITH_MPI, else processes of our own.
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>
#include <stdcl.h>
#ifdef WITH_MPI
#include <mpi.h>
#else
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>
#endif

static const char source[] = "__kernel void rank_kern( int rank, __global int* x )\n"
                             "{ x[get_global_id(0)] = 100*rank + get_global_id(0); }\n";

/* 1 when this rank has a device, which then computed well; 0 when there was none; -1 when something
 * is wrong. */
static int compute(int rank)
{
    int i, wrong = 0;
    CLCONTEXT *cp = stdcpu;
    clndrange_t ndr = clndrange_init1d(0, 64, 16);
    if (!cp)
        return 0;
    if (clgetndev(cp) != 1)
        return -1;
    {
        cl_int *x = (cl_int *)clmalloc(cp, 64 * sizeof(cl_int), 0);
        void *h = clsopen(cp, source, CLLD_NOW);
        cl_kernel krn = clsym(cp, h, "rank_kern", 0);
        clarg_set(cp, krn, 0, rank);
        clarg_set_global(cp, krn, 1, x);
        clfork(cp, 0, krn, &ndr, CL_EVENT_NOWAIT);
        clmsync(cp, 0, x, CL_MEM_HOST | CL_EVENT_NOWAIT);
        clwait(cp, 0, CL_ALL_EVENT | CL_EVENT_RELEASE);
        for (i = 0; i < 64; i++)
            if (x[i] != 100 * rank + i)
                wrong++;
        clclose(cp, h);
        clfree(x);
    }
    return wrong ? -1 : 1;
}

#ifdef WITH_MPI
int main(int argc, char **argv)
{
    int rank, size, mine, all = 0, bad, anybad = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    mine = compute(rank);
    bad = mine < 0;
    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM,
                  MPI_COMM_WORLD); /* until here everybody holds what it has */
    MPI_Allreduce(&bad, &anybad, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d of %d ranks have a device\n", all, size);
    MPI_Finalize();
    return anybad || all != 2;
}
#else
int main()
{
    enum { NRANK = 3 };
    int rank, all = 0, wrong = 0, go[2], come[2];
    if (pipe(go) != 0 || pipe(come) != 0)
        return 1;
    for (rank = 0; rank < NRANK; rank++)
        if (fork() == 0) {
            char mine = (char)compute(rank), c;
            close(go[1]);
            if (write(come[1], &mine, 1) != 1)
                _exit(1);
            if (read(go[0], &c, 1) != 0)
                _exit(1); /* holds what it has until everybody has answered */
            _exit(0);
        }
    close(go[0]);
    close(come[1]);
    for (rank = 0; rank < NRANK; rank++) {
        signed char mine;
        if (read(come[0], &mine, 1) != 1 || mine < 0)
            wrong++;
        else
            all += mine;
    }
    close(go[1]);
    for (rank = 0; rank < NRANK; rank++) {
        int status = 1;
        if (wait(&status) < 0 || status != 0)
            wrong++;
    }
    printf("%d of %d ranks have a device, %d wrong\n", all, NRANK, wrong);
    return wrong || all != 2;
}
#endif
