/* world_mpi.c - ranks by MPI: the only file that includes mpi.h. It becomes a plugin,
 * world-openmpi.so or world-mpich.so, one for each MPI there is, since two MPIs share neither
 * headers nor numbers; `make mpi MPICC=...` builds it for another.
 *
 * It needs nothing of stdcl but a table of functions. One thread at a time calls them
 * (MPI_THREAD_SERIALIZED); a lock of the caller's sees to that. Only bytes in host memory are
 * handed to MPI, at most 1 GiB at a time: counts are int in MPI 3.
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include <mpi.h>

#include "drain_stdio.h"
#include "transport.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct state {
    MPI_Comm comm;
    int ours; /* we started MPI, and end it */
};

_Static_assert(sizeof(MPI_Request) <= sizeof(uint64_t), "a request of MPI does not fit the handle");

static int wrong(int error, char *why)
{
    int length = 0;
    char text[MPI_MAX_ERROR_STRING] = "";
    if (error == MPI_SUCCESS)
        return 0;
    MPI_Error_string(error, text, &length);
    snprintf(why, TRANSPORT_WHY, "%s", text);
    return -1;
}

/* "Open MPI v4.1.4", "MPICH Version: 4.0.2": the first line's first words. */
static void describe(char *carrier)
{
    int length = 0;
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    MPI_Get_library_version(text, &length);
    text[strcspn(text, ",\n")] = 0;
    for (char *p = text; *p; p++)
        if (*p == '\t')
            *p = ' ';
    snprintf(carrier, TRANSPORT_WHY, "%s", text);
}

/* Mail moves in the background if another thread may call MPI while this one does not, and, where a
 * program has calls of its own, while it does. */
static int start(struct state *s, int communicator, int *background, char *why)
{
    int have = 0, level = MPI_THREAD_SINGLE;
    MPI_Initialized(&have);
    if (communicator != -1 && !have)
        return snprintf(why, TRANSPORT_WHY, "MPI was not started"), -1;
    s->ours = !have;
    if (wrong(have ? MPI_Query_thread(&level)
                   : MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &level),
              why) != 0)
        return -1;
    *background = level >= (s->ours ? MPI_THREAD_SERIALIZED : MPI_THREAD_MULTIPLE);
    const MPI_Comm from =
        communicator == -1 ? MPI_COMM_WORLD : MPI_Comm_f2c((MPI_Fint)communicator);
    return wrong(MPI_Comm_dup(from, &s->comm), why);
}

static int mpi_join(int communicator, void **state, int *rank, int *size, int *background,
                    char *carrier, char *why)
{
    struct state *s = calloc(1, sizeof *s);
    if (!s)
        return snprintf(why, TRANSPORT_WHY, "no memory"), -1;
    if (start(s, communicator, background, why) != 0)
        return free(s), -1;
    MPI_Comm_set_errhandler(s->comm, MPI_ERRORS_RETURN);
    MPI_Comm_rank(s->comm, rank);
    MPI_Comm_size(s->comm, size);
    describe(carrier);
    *state = s;
    return 0;
}

static void keep(struct transport_request *r, MPI_Request request)
{
    memcpy(&r->handle[0], &request, sizeof request);
}

static MPI_Request kept(const struct transport_request *r)
{
    MPI_Request request;
    memcpy(&request, &r->handle[0], sizeof request);
    return request;
}

enum { IS_SEND = 1, CANCEL_SECONDS = 1 };

static int mpi_send(void *state, int rank, int tag, const void *bytes, size_t size,
                    struct transport_request *r, char *why)
{
    struct state *s = state;
    MPI_Request request = MPI_REQUEST_NULL;
    const int error = MPI_Isend(bytes, (int)size, MPI_BYTE, rank, tag, s->comm, &request);
    keep(r, request);
    r->handle[1] = IS_SEND;
    return wrong(error, why);
}

static int mpi_receive(void *state, int rank, int tag, void *bytes, size_t size,
                       struct transport_request *r, char *why)
{
    struct state *s = state;
    MPI_Request request = MPI_REQUEST_NULL;
    const int error = MPI_Irecv(bytes, (int)size, MPI_BYTE, rank, tag, s->comm, &request);
    keep(r, request);
    return wrong(error, why);
}

static int mpi_test(void *state, struct transport_request *r, char *why)
{
    int done = 0;
    MPI_Request request = kept(r);
    (void)state;
    const int error = MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    keep(r, request);
    return wrong(error, why) != 0 ? -1 : done;
}

/* MPI takes no send back: MPI 4.0 warns of it, and Open MPI waits for the receiver. A receive that
 * has met its message is not cancelled, and comes to its end unless the sender has stopped. */
static int mpi_cancel(void *state, struct transport_request *r)
{
    MPI_Request request = kept(r);
    int done = request == MPI_REQUEST_NULL;
    (void)state;
    if (done || r->handle[1] == IS_SEND)
        return !done;
    MPI_Cancel(&request);
    for (const double since = MPI_Wtime(); !done && MPI_Wtime() - since < CANCEL_SECONDS;)
        if (MPI_Test(&request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS)
            break;
    keep(r, request);
    return !done;
}

/* MPICH before 4.2, over UCX: in MPI_Finalize a rank waits for the launcher and no longer moves
 * what others still have under way to it, so that about half of all jobs on several hosts hang at
 * their end (its pull request 6596; one host has shared memory). */
static int finalize_hangs(void)
{
    int length = 0, major = 0, minor = 0;
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    MPI_Get_library_version(text, &length);
    return strstr(text, "ch4:ucx") && sscanf(text, "MPICH Version: %d.%d", &major, &minor) == 2 &&
           (major < 4 || (major == 4 && minor < 2));
}

/* All that MPI_Finalize tells the launcher, in the words of PMI; the rest ends with the process. 0:
 * there is none who listens. */
static int tell_launcher(void)
{
    const char *number = getenv("PMI_FD"), words[] = "cmd=finalize\n";
    const int fd = number ? atoi(number) : -1;
    char answer = 0;
    if (fd < 0 || write(fd, words, sizeof words - 1) != (ssize_t)sizeof words - 1)
        return 0;
    while (answer != '\n' && read(fd, &answer, 1) == 1)
        ;
    return 1;
}

static void mpi_leave(void *state)
{
    struct state *s = state;
    MPI_Comm_free(&s->comm);
    if (s->ours && !(finalize_hangs() && tell_launcher()))
        MPI_Finalize();
    free(s);
}

enum { LAUNCHER_SECONDS = 20, FILES = 4096 }; /* in which a launcher should have ended all */

#if defined(OPEN_MPI)
/* By its name. */
static int is_mpirun(pid_t process)
{
    char name[64] = "";
    snprintf(name, sizeof name, "/proc/%d/comm", (int)process);
    FILE *fp = fopen(name, "re");
    const int read = fp && fgets(name, sizeof name, fp);
    if (fp)
        fclose(fp);
    return read && (strncmp(name, "mpirun", 6) == 0 || strncmp(name, "mpiexec", 7) == 0 ||
                    strncmp(name, "orterun", 7) == 0 || strncmp(name, "prterun", 7) == 0);
}

/* mpirun of Open MPI, when it should end all, waits without end for a host that is cut off from the
 * network. If it is on this host, a process that outlives this one ends it: it only calls what may
 * be called after a fork of one thread among many. */
static void end_launcher(void)
{
    const pid_t launcher = getppid();
    if (!is_mpirun(launcher) || fork() != 0)
        return;
    setsid();
    for (int fd = 0; fd < FILES; fd++)
        close(fd);
    for (int i = 0; i < LAUNCHER_SECONDS && kill(launcher, 0) == 0; i++)
        sleep(1);
    kill(launcher, SIGKILL);
    _exit(0);
}
#endif

static void mpi_end(void *state, int status)
{
    struct state *s = state;
    drain_stdio();
#if defined(OPEN_MPI)
    end_launcher();
#endif
    signal(SIGALRM, SIG_DFL); /* MPI_Abort, too, may wait for a launcher that is cut off */
    alarm(LAUNCHER_SECONDS);
    MPI_Abort(s->ours ? MPI_COMM_WORLD : s->comm, status);
}

const struct transport stdcl_world_transport = {
    .abi = TRANSPORT_ABI,
#if defined(OPEN_MPI)
    .names = "Open MPI",
#elif defined(MPICH_VERSION)
    .names = "MPICH",
#else
    .names = "MPI",
#endif
    .join = mpi_join,
    .send = mpi_send,
    .receive = mpi_receive,
    .test = mpi_test,
    .cancel = mpi_cancel,
    .leave = mpi_leave,
    .end = mpi_end,
};
