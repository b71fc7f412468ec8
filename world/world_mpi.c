/* world_mpi.c - transport by MPI: the only file that includes mpi.h. It is compiled to a plugin,
 * world-openmpi.so or world-mpich.so, once for each MPI, because MPIs share neither headers nor
 * ABI; `make mpi MPICC=...` builds it for another.
 *
 * It needs nothing of stdcl but the table of functions. One thread at a time calls them
 * (MPI_THREAD_SERIALIZED), under the caller's lock. Only host memory is passed to MPI, at most 1
 * GiB at a time: counts are int in MPI 3.
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
    int ours; /* this code started MPI and finalizes it */
};

_Static_assert(sizeof(MPI_Request) <= sizeof(uint64_t), "a request of MPI does not fit the handle");

static int mpi_error(int error, char *why)
{
    int length = 0;
    char text[MPI_MAX_ERROR_STRING] = "";
    if (error == MPI_SUCCESS)
        return 0;
    MPI_Error_string(error, text, &length);
    snprintf(why, TRANSPORT_WHY, "%s", text);
    return -1;
}

/* "Open MPI v4.1.4", "MPICH Version: 4.0.2": the first words of the version. */
static void mpi_describe(char *transport_name)
{
    int length = 0;
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    MPI_Get_library_version(text, &length);
    text[strcspn(text, ",\n")] = 0;
    for (char *p = text; *p; p++)
        if (*p == '\t')
            *p = ' ';
    snprintf(transport_name, TRANSPORT_WHY, "%s", text);
}

/* Requests progress in the background if MPI allows calls of one thread at a time, or, beside a
 * program's own calls, of several threads at once. */
static int mpi_start(struct state *s, int communicator, int *background, char *why)
{
    int have = 0, level = MPI_THREAD_SINGLE;
    MPI_Initialized(&have);
    if (communicator != -1 && !have)
        return snprintf(why, TRANSPORT_WHY, "MPI was not started"), -1;
    s->ours = !have;
    if (mpi_error(have ? MPI_Query_thread(&level)
                       : MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &level),
                  why) != 0)
        return -1;
    *background = level >= (s->ours ? MPI_THREAD_SERIALIZED : MPI_THREAD_MULTIPLE);
    const MPI_Comm from =
        communicator == -1 ? MPI_COMM_WORLD : MPI_Comm_f2c((MPI_Fint)communicator);
    return mpi_error(MPI_Comm_dup(from, &s->comm), why);
}

static int mpi_join(int communicator, void **state, int *rank, int *size, int *background,
                    char *transport_name, char *why)
{
    struct state *s = calloc(1, sizeof *s);
    if (!s)
        return snprintf(why, TRANSPORT_WHY, "out of memory"), -1;
    if (mpi_start(s, communicator, background, why) != 0)
        return free(s), -1;
    MPI_Comm_set_errhandler(s->comm, MPI_ERRORS_RETURN);
    MPI_Comm_rank(s->comm, rank);
    MPI_Comm_size(s->comm, size);
    mpi_describe(transport_name);
    *state = s;
    return 0;
}

static void mpi_store_request(struct transport_request *r, MPI_Request request)
{
    memcpy(&r->handle[0], &request, sizeof request);
}

static MPI_Request mpi_load_request(const struct transport_request *r)
{
    MPI_Request request;
    memcpy(&request, &r->handle[0], sizeof request);
    return request;
}

/* handle[1]: bytes of a receive, or IS_SEND. */
static const uint64_t IS_SEND = UINT64_MAX;
enum { CANCEL_SECONDS = 1 };

static int mpi_send(void *state, int rank, int tag, const void *bytes, size_t size,
                    struct transport_request *r, char *why)
{
    struct state *s = state;
    MPI_Request request = MPI_REQUEST_NULL;
    const int error = MPI_Isend(bytes, (int)size, MPI_BYTE, rank, tag, s->comm, &request);
    mpi_store_request(r, request);
    r->handle[1] = IS_SEND;
    return mpi_error(error, why);
}

static int mpi_receive(void *state, int rank, int tag, void *bytes, size_t size,
                       struct transport_request *r, char *why)
{
    struct state *s = state;
    MPI_Request request = MPI_REQUEST_NULL;
    const int error = MPI_Irecv(bytes, (int)size, MPI_BYTE, rank, tag, s->comm, &request);
    mpi_store_request(r, request);
    r->handle[1] = size;
    return mpi_error(error, why);
}

static int mpi_test(void *state, struct transport_request *r, char *why)
{
    int done = 0, count = 0;
    MPI_Status status;
    MPI_Request request = mpi_load_request(r);
    (void)state;
    const int error = MPI_Test(&request, &done, &status);
    mpi_store_request(r, request);
    if (mpi_error(error, why) != 0)
        return -1;
    if (!done || r->handle[1] == IS_SEND)
        return done;
    MPI_Get_count(&status, MPI_BYTE, &count);
    if (count == (int)r->handle[1])
        return 1;
    snprintf(why, TRANSPORT_WHY, "a message of %d bytes has come in place of one of %d", count,
             (int)r->handle[1]);
    return -1;
}

/* MPI cannot cancel a send: MPI 4.0 advises against it, and Open MPI waits for the receiver. A
 * receive that has matched its message completes unless the sender has stopped. */
static int mpi_cancel(void *state, struct transport_request *r)
{
    MPI_Request request = mpi_load_request(r);
    int done = request == MPI_REQUEST_NULL;
    (void)state;
    if (done || r->handle[1] == IS_SEND)
        return !done;
    MPI_Cancel(&request);
    for (const double since = MPI_Wtime(); !done && MPI_Wtime() - since < CANCEL_SECONDS;)
        if (MPI_Test(&request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS)
            break;
    mpi_store_request(r, request);
    return !done;
}

/* True for MPICH before 4.2 over UCX: in MPI_Finalize a rank waits for the launcher and no longer
 * progresses transfers, so about half of all jobs on several hosts hang at their end (pull request
 * 6596). Jobs on one host use shared memory. */
static int mpi_finalize_hangs(void)
{
    int length = 0, major = 0, minor = 0;
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    MPI_Get_library_version(text, &length);
    return strstr(text, "ch4:ucx") && sscanf(text, "MPICH Version: %d.%d", &major, &minor) == 2 &&
           (major < 4 || (major == 4 && minor < 2));
}

/* Tell the launcher by PMI that this process finalizes, in place of MPI_Finalize; the process exit
 * frees the rest. Return 0 if there is no PMI launcher. */
static int pmi_finalize(void)
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
    if (s->ours && !(mpi_finalize_hangs() && pmi_finalize()))
        MPI_Finalize();
    free(s);
}

enum { LAUNCHER_SECONDS = 20, FILES = 4096 }; /* until a launcher should have ended all processes */

#if defined(OPEN_MPI)
/* Checks the process name. */
static int is_mpi_launcher(pid_t process)
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

/* Open MPI's mpirun hangs in an abort if a host is cut off from the network. If mpirun runs on
 * this host, fork a process that kills it after LAUNCHER_SECONDS. The child calls only async-
 * signal-safe functions. */
static void kill_stuck_launcher(void)
{
    const pid_t launcher = getppid();
    if (!is_mpi_launcher(launcher) || fork() != 0)
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
    kill_stuck_launcher();
#endif
    signal(SIGALRM, SIG_DFL); /* MPI_Abort hangs too while the launcher is cut off */
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
