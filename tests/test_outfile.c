/* test_outfile.c - output files are complete or absent after errors, full disks and signals.
 * SPDX-License-Identifier: MIT
 */
#include "files.h"
#include "formats/csv.h"
#include "core/outfile.h"

#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>

static const char old[] = "old content\n";

static int temporaries(void)
{
    return count_files(files_folder, ".tmp");
}

/* ---- What goes well. ------------------------------------------------------------------------- */

static void outfile_appears_at_commit(void **unused)
{
    const char *path = in_folder("a.txt");
    struct outfile out;
    struct stat info;
    (void)unused;
    mode_t mask = umask(027);
    works(outfile_open(&out, path));
    umask(mask);
    fprintf(out.fp, "new\n");
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(temporaries(), 1);
    works(outfile_commit(&out));
    holds_text(path, "new\n");
    assert_int_equal(temporaries(), 0);
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0640);
    works(outfile_commit(&out)); /* a second commit does nothing */
    outfile_discard(&out);
}

static void outfile_replaces_and_keeps_mode(void **unused)
{
    const char *path = in_folder("b.txt");
    struct outfile out;
    struct stat info;
    (void)unused;
    put_text(path, old);
    assert_int_equal(chmod(path, 0604), 0);
    works(outfile_open(&out, path));
    fprintf(out.fp, "new\n");
    fflush(out.fp);
    holds_text(path, old);
    works(outfile_commit(&out));
    holds_text(path, "new\n");
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0604);
}

static void outfile_discard_leaves_nothing(void **unused)
{
    const char *path = in_folder("c.txt");
    struct outfile out, never = {0};
    (void)unused;
    put_text(path, old);
    works(outfile_open(&out, path));
    fprintf(out.fp, "new\n");
    outfile_discard(&out);
    outfile_discard(&out);
    outfile_discard(&never);
    holds_text(path, old);
    assert_int_equal(temporaries(), 0);
}

static void outfile_writes_through_symlink(void **unused)
{
    struct outfile out;
    struct stat info;
    char link[PATH_MAX];
    (void)unused;
    assert_int_equal(mkdir(in_folder("sub"), 0755), 0);
    put_text(in_folder("sub/real.txt"), old);
    snprintf(link, sizeof link, "%s", in_folder("link.txt"));
    assert_int_equal(symlink("sub/real.txt", link), 0);
    works(outfile_open(&out, link));
    fprintf(out.fp, "new\n");
    assert_int_equal(count_files(in_folder("sub"), ".tmp"), 1);
    works(outfile_commit(&out));
    assert_int_equal(lstat(link, &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    holds_text(in_folder("sub/real.txt"), "new\n");
    assert_int_equal(unlink(in_folder("sub/real.txt")), 0);
    fails_saying(ENOENT, outfile_open(&out, link), "link.txt", "leads nowhere");
}

/* In the current folder the name has no slash. */
static void outfile_writes_in_current_folder(void **unused)
{
    struct outfile out;
    char before[PATH_MAX];
    (void)unused;
    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(chdir(files_folder), 0);
    works(outfile_open(&out, "here.txt"));
    fprintf(out.fp, "here\n");
    works(outfile_commit(&out));
    holds_text("here.txt", "here\n");
    assert_int_equal(chdir(before), 0);
}

static void outfile_writes_directly_to_fifo(void **unused)
{
    const char *fifo = in_folder("fifo");
    struct outfile out;
    char text[16] = {0};
    (void)unused;
    assert_int_equal(mkfifo(fifo, 0600), 0);
    int fd = open(fifo, O_RDONLY | O_NONBLOCK);
    works(outfile_open(&out, fifo));
    fprintf(out.fp, "through\n");
    works(outfile_commit(&out));
    assert_int_equal(read(fd, text, sizeof text - 1), 8);
    assert_string_equal(text, "through\n");
    close(fd);
    works(outfile_open(&out, "/dev/null"));
    fprintf(out.fp, "gone\n");
    works(outfile_commit(&out));
    assert_int_equal(temporaries(), 0);
}

/* A redirected standard output continues at its offset, under all its names. */
static void outfile_appends_to_stdout(void **unused)
{
    static const char *const names[] = {"-", "/dev/stdout", "/dev/fd/1"};
    const char *path = in_folder("stdout.txt");
    (void)unused;
    fflush(stdout);
    int saved = dup(1), fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600), failed = 0;
    dup2(fd, 1);
    printf("first\n"); /* still in the buffer of stdio */
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct outfile out;
        failed += outfile_open(&out, names[i]) != 0;
        fprintf(out.fp, "%zu\n", i);
        failed += outfile_commit(&out) != 0;
    }
    printf("last\n");
    fflush(stdout);
    dup2(saved, 1);
    close(saved);
    close(fd);
    assert_int_equal(failed, 0);
    holds_text(path, "first\n0\n1\n2\nlast\n");
}

static void outfile_limits_open_files(void **unused)
{
    enum { MOST = 64 };
    struct outfile out[MOST + 1];
    char name[32];
    (void)unused;
    for (int i = 0; i < MOST; i++) {
        snprintf(name, sizeof name, "many%d.txt", i);
        works(outfile_open(&out[i], in_folder(name)));
    }
    fails_saying(EMFILE, outfile_open(&out[MOST], in_folder("one-more.txt")), "one-more.txt");
    for (int i = 0; i < MOST; i++)
        outfile_discard(&out[i]);
    works(outfile_open(&out[MOST], in_folder("one-more.txt")));
    outfile_discard(&out[MOST]);
    assert_int_equal(temporaries(), 0);
}

static void *write_often(void *number)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%.1000s/thread%d.txt", files_folder, *(int *)number);
    for (int i = 0; i < 100; i++) {
        struct outfile out;
        if (outfile_open(&out, path) < 0)
            return number;
        out.nosync = true;
        fprintf(out.fp, "%d\n", i);
        if (i % 3 == 1)
            outfile_discard(&out);
        else if (outfile_commit(&out) < 0)
            return number;
    }
    return NULL;
}

static void outfile_serves_threads(void **unused)
{
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    int numbers[THREADS] = {0, 1, 2, 3};
    (void)unused;
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, write_often, &numbers[i]), 0);
    for (int i = 0; i < THREADS; i++) {
        void *failed;
        assert_int_equal(pthread_join(threads[i], &failed), 0);
        assert_null(failed);
    }
    assert_int_equal(temporaries(), 0);
    holds_text(in_folder("thread3.txt"), "99\n");
}

/* ---- What goes wrong. ------------------------------------------------------------------------ */

static void outfile_error_names_bad_path(void **unused)
{
    struct outfile out;
    char longest[400] = "x";
    (void)unused;
    fails_saying(ENOENT, outfile_open(&out, in_folder("none/x.tab")), "none/x.tab",
                 "none' does not exist");
    fails_saying(ENOENT, outfile_open(&out, "/proc/x.tab"), "/proc/x.tab",
                 "no file can be made in the folder '/proc'");
    fails_saying(EISDIR, outfile_open(&out, files_folder), files_folder, "is a folder");
    put_text(in_folder("file"), old);
    fails_saying(ENOTDIR, outfile_open(&out, in_folder("file/x.tab")), "file/x.tab",
                 "is not a folder");
    fails_saying(EINVAL, outfile_open(&out, ""), "empty");
    memset(longest, 'x', sizeof longest - 1);
    fails_saying(ENAMETOOLONG, outfile_open(&out, longest), "too long");
    fails_saying(EBADF, outfile_open(&out, "/dev/fd/999"), "/dev/fd/999", "not open");
    assert_null(out.fp);
}

/* Root may do everything, so root becomes nobody for a moment. */
static void outfile_reports_missing_permission(void **unused)
{
    struct outfile out;
    bool root = geteuid() == 0;
    (void)unused;
    assert_int_equal(mkdir(in_folder("closed"), 0555), 0);
    assert_int_equal(mkdir(in_folder("open"), 0777), 0);
    assert_int_equal(chmod(in_folder("open"), 0777), 0);
    put_text(in_folder("open/fixed.txt"), old);
    assert_int_equal(chmod(in_folder("open/fixed.txt"), 0444), 0);
    assert_int_equal(root ? seteuid(65534) : 0, 0);
    int first = outfile_open(&out, in_folder("closed/x.tab"));
    char *sentence = strdup(first < 0 ? clerror() : "");
    int second = outfile_open(&out, in_folder("open/fixed.txt"));
    assert_int_equal(root ? seteuid(0) : 0, 0);
    assert_int_equal(first, -1);
    contains(sentence, "closed/x.tab");
    contains(sentence, "no permission to write in the folder");
    free(sentence);
    assert_int_equal(second, -1);
    says("fixed.txt", "may not be overwritten");
    holds_text(in_folder("open/fixed.txt"), old);
}

/* Write megabytes that cannot fit; the first error must be reported at the end. */
static void fill_disk(struct outfile *out)
{
    for (int i = 0; i < 1 << 18; i++)
        fputs("0123456\n", out->fp);
}

static void outfile_reports_full_device(void **unused)
{
    struct outfile out;
    (void)unused;
    if (access("/dev/full", W_OK) < 0)
        skip();
    works(outfile_open(&out, "/dev/full"));
    fputs("little", out.fp); /* found out when it is flushed */
    fails_saying(ENOSPC, outfile_commit(&out), "/dev/full", "disk is full");
    works(outfile_open(&out, "/dev/full"));
    fill_disk(&out);
    fails_saying(ENOSPC, outfile_check(&out), "/dev/full", "disk is full");
    fails_saying(ENOSPC, outfile_commit(&out), "/dev/full", "disk is full");
    works(outfile_open(&out, "/dev/full"));
    fill_disk(&out);
    outfile_discard(&out);
}

static void outfile_full_disk_leaves_nothing(void **unused)
{
    struct outfile out;
    const char *disk = in_folder("disk"), *path = in_folder("disk/x.tab");
    (void)unused;
    assert_int_equal(mkdir(disk, 0755), 0);
#ifdef __linux__
    if (geteuid() != 0 || mount("tmpfs", disk, "tmpfs", 0, "size=64k") < 0)
#endif
    {
        print_message("only root can mount a small disk to fill\n");
        skip();
    }
    put_text(path, old);
    works(outfile_open(&out, path));
    fill_disk(&out);
    check_forget();
    int check = outfile_check(&out), commit = outfile_commit(&out), left = count_files(disk, "");
    char *sentence = strdup(commit < 0 ? clerror() : ""), *content = bytes_of(path, NULL);
#ifdef __linux__
    umount(disk);
#endif
    assert_int_equal(check, -1);
    assert_int_equal(commit, -1);
    assert_int_equal(clerrno, ENOSPC);
    contains(sentence, "disk is full");
    assert_int_equal(left, 1);
    assert_string_equal(content, old);
    free(content);
    free(sentence);
}

static void outfile_size_limit_leaves_nothing(void **unused)
{
    const char *path = in_folder("limited.txt");
    struct outfile out;
    struct rlimit before, small;
    (void)unused;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = before;
    small.rlim_cur = 100000;
    signal(SIGXFSZ, SIG_IGN);
    works(outfile_open(&out, path));
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    fill_disk(&out);
    int status = outfile_commit(&out);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, SIG_DFL);
    assert_int_equal(status, -1);
    assert_int_equal(clerrno, EFBIG);
    says("limited.txt", "larger than the system allows");
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(temporaries(), 0);
}

/* The reader of a pipe gets only the written bytes, whenever it goes away. */
static void outfile_adds_nothing_to_pipe(void **unused)
{
    const char *fifo = in_folder("closing");
    char got[4096];
    struct outfile out;
    (void)unused;
    signal(SIGPIPE, SIG_IGN);
    assert_int_equal(mkfifo(fifo, 0600), 0);
    int fd = open(fifo, O_RDONLY | O_NONBLOCK);
    works(outfile_open(&out, fifo));
    fputs("0123456\n", out.fp);
    fflush(out.fp);
    const ssize_t n = read(fd, got, sizeof got);
    assert_int_equal(n, 8);
    assert_memory_equal(got, "0123456\n", 8);
    close(fd);
    fill_disk(&out);
    fails(EPIPE, outfile_check(&out));
    fd = open(fifo, O_RDONLY | O_NONBLOCK); /* a second reader gets no remainder */
    fails(EPIPE, outfile_commit(&out));
    assert_int_equal(read(fd, got, sizeof got), 0);
    close(fd);
    signal(SIGPIPE, SIG_DFL);
}

static void *read_pipe_slowly(void *from)
{
    static char got[1 << 12];
    size_t *total = from;
    const int fd = (int)*total;
    ssize_t n;
    for (*total = 0; (n = read(fd, got, sizeof got)) > 0;) {
        for (ssize_t i = 0; i < n; i++, ++*total)
            if (got[i] != "0123456\n"[*total % 8])
                return from;
        if (*total % 65536 == 0)
            usleep(1000);
    }
    return NULL;
}

/* A full, non-blocking pipe returns EAGAIN, which is not an error. */
static void outfile_waits_for_full_pipe(void **unused)
{
    struct outfile out;
    pthread_t reader;
    char name[32];
    int ends[2];
    void *wrong;
    (void)unused;
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(fcntl(ends[1], F_SETFL, O_NONBLOCK), 0);
    size_t total = (size_t)ends[0];
    assert_int_equal(pthread_create(&reader, NULL, read_pipe_slowly, &total), 0);
    snprintf(name, sizeof name, "/dev/fd/%d", ends[1]);
    works(outfile_open(&out, name));
    fill_disk(&out);
    works(outfile_check(&out));
    works(outfile_commit(&out));
    close(ends[1]);
    assert_int_equal(pthread_join(reader, &wrong), 0);
    assert_null(wrong);
    assert_int_equal(total, (size_t)8 << 18);
    close(ends[0]);
}

static void outfile_reports_vanished_folder(void **unused)
{
    struct outfile out;
    char command[PATH_MAX + 16];
    (void)unused;
    assert_int_equal(mkdir(in_folder("gone"), 0755), 0);
    works(outfile_open(&out, in_folder("gone/x.tab")));
    snprintf(command, sizeof command, "rm -r '%s'", in_folder("gone"));
    assert_int_equal(system(command), 0);
    fails_saying(ENOENT, outfile_commit(&out), "gone/x.tab", "gone' does not exist");
}

/* ---- Interrupted programs. ------------------------------------------------------------------- */

static void (*before_rename)(void); /* hook just before the rename */

int rename(const char *from, const char *to)
{
    if (before_rename)
        before_rename();
    return renameat(AT_FDCWD, from, AT_FDCWD, to);
}

/* Run `act` in a child with two open guarded files; return its wait status. */
static int status_of_interrupted(void (*act)(void))
{
    int status = 0;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        struct outfile one, two;
        outfile_guard();
        if (outfile_open(&one, in_folder("int1.txt")) < 0 ||
            outfile_open(&two, in_folder("int2.txt")) < 0 || temporaries() != 2)
            _exit(99);
        fprintf(one.fp, "half");
        act();
        _exit(98); /* not reached */
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(temporaries(), 0);
    assert_int_equal(access(in_folder("int1.txt"), F_OK), -1);
    return status;
}

static void be_interrupted(void)
{
    raise(SIGINT);
}
static void be_terminated(void)
{
    raise(SIGTERM);
}
static void be_hung_up(void)
{
    raise(SIGHUP);
}
static void quit_after_write(void)
{
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    raise(SIGQUIT);
}
static void leave_after_write(void)
{
    exit(3);
}

/* A child that makes the file again whenever it is gone: it is killed before the file is
 * removed. */
static void interrupt_with_writer(void)
{
    struct outfile film;
    if (outfile_open(&film, in_folder("film.txt")) < 0)
        _exit(96);
    const pid_t child = fork();
    if (child == 0)
        alarm(5);
    for (int fd; child == 0; close(fd))
        fd = open(film.temporary, O_WRONLY | O_CREAT, 0600);
    outfile_set_writer(&film, child);
    raise(SIGTERM);
}

static struct outfile last;

static void commit_and_be_terminated(void)
{
    before_rename = be_terminated;
    if (outfile_open(&last, in_folder("int3.txt")) == 0)
        outfile_commit(&last);
}

/* A grandchild that exits must not remove its parent's files. */
static void fork_and_leave(void)
{
    int status = 0;
    pid_t child = fork();
    if (child == 0)
        exit(0);
    waitpid(child, &status, 0);
    if (temporaries() != 2)
        _exit(97);
    exit(4);
}

static void outfile_interrupted_leaves_nothing(void **unused)
{
    (void)unused;
    int status = status_of_interrupted(be_interrupted);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT);
    status = status_of_interrupted(be_terminated);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
    status = status_of_interrupted(be_hung_up);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGHUP);
    status = status_of_interrupted(quit_after_write);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGQUIT);
    status = status_of_interrupted(commit_and_be_terminated);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
    status = status_of_interrupted(interrupt_with_writer);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
    status = status_of_interrupted(leave_after_write);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 3);
    status = status_of_interrupted(fork_and_leave);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 4);
}

/* The leftovers of a killed program are removed when the file is written again; the temporary
 * file of a running one stays. */
static void outfile_removes_stale_temporary(void **unused)
{
    struct outfile out, other;
    int status = 0;
    (void)unused;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        if (outfile_open(&out, in_folder("killed.txt")) < 0)
            _exit(99);
        raise(SIGKILL);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(temporaries(), 1);
    works(outfile_open(&out, in_folder("killed.txt")));
    assert_int_equal(temporaries(), 1);
    works(outfile_open(&other, in_folder("killed.txt")));
    assert_int_equal(temporaries(), 2);
    fputs("first\n", out.fp);
    fputs("second\n", other.fp);
    works(outfile_commit(&out));
    holds_text(in_folder("killed.txt"), "first\n");
    works(outfile_commit(&other));
    holds_text(in_folder("killed.txt"), "second\n");
    assert_int_equal(temporaries(), 0);
}

static void write_the_same(void)
{
    struct outfile other;
    works(outfile_open(&other, in_folder("same.txt")));
    outfile_discard(&other);
}

/* A temporary file about to be renamed must not be taken for stale. */
static void outfile_keeps_temporary_until_renamed(void **unused)
{
    struct outfile out;
    (void)unused;
    works(outfile_open(&out, in_folder("same.txt")));
    fputs("mine\n", out.fp);
    before_rename = write_the_same;
    works(outfile_commit(&out));
    before_rename = NULL;
    holds_text(in_folder("same.txt"), "mine\n");
    assert_int_equal(temporaries(), 0);
}

/* ---- Tables. --------------------------------------------------------------------------------- */

static void csv_writes_tables(void **unused)
{
    static const char *const names[] = {"time", "kinetic, all", "said \"x\""};
    const double rows[][3] = {{0, 0.1, -1e-300}, {0.5, NAN, 1e22}, {1, INFINITY, -INFINITY}};
    struct csv csv;
    (void)unused;
    works(csv_open(&csv, in_folder("t.csv"), 3, names));
    for (int i = 0; i < 3; i++)
        works(csv_row(&csv, rows[i]));
    assert_int_equal(access(in_folder("t.csv"), F_OK), -1);
    works(csv_close(&csv));
    holds_text(
        in_folder("t.csv"),
        "time,\"kinetic, all\",\"said \"\"x\"\"\"\n0,0.1,-1e-300\n0.5,nan,1e+22\n1,inf,-inf\n");
    works(csv_open(&csv, in_folder("u.csv"), 3, names));
    csv_discard(&csv);
    csv_discard(&csv);
    assert_int_equal(access(in_folder("u.csv"), F_OK), -1);
    fails_saying(ENOENT, csv_open(&csv, in_folder("none/t.csv"), 3, names), "none' does not exist");
}

static void csv_reports_full_disk(void **unused)
{
    static const char *const names[] = {"a", "b"};
    const double row[2] = {1.0 / 3, 2.0 / 3};
    struct csv csv;
    int status = 0, rows = 0;
    (void)unused;
    if (access("/dev/full", W_OK) < 0)
        skip();
    works(csv_open(&csv, "/dev/full", 2, names));
    while (status == 0 && rows++ < 100000)
        status = csv_row(&csv, row);
    assert_int_equal(status, -1);
    says("/dev/full", "disk is full");
    csv_discard(&csv);
}

/* ---- Who waits. ------------------------------------------------------------------------------ */

static double left;

static double tell_left(void)
{
    return left;
}

static int write_mebibytes(const char *path, int n, int until, bool kept)
{
    static char mebibyte[1 << 20];
    struct outfile out;
    if (outfile_open(&out, path) < 0)
        return -1;
    if (kept)
        outfile_keep(&out);
    for (int i = 0; i < n; i++) {
        left = i < until ? INFINITY : -1;
        fwrite(mebibyte, 1, sizeof mebibyte, out.fp);
    }
    return outfile_commit(&out);
}

/* A file with 16 MiB left to write at the time limit is abandoned; the last MiB of a long file
 * is written, and so is a required file. */
static void outfile_timeout_leaves_nothing(void **unused)
{
    const char *path = in_folder("late.txt");
    struct stat info;
    (void)unused;
    put_text(path, old);
    outfile_limit(tell_left);
    fails_saying(ECANCELED, write_mebibytes(path, 24, 8, false), "late.txt", "was given up");
    holds_text(path, old);
    assert_int_equal(temporaries(), 0);
    works(write_mebibytes(path, 16, 15, false));
    assert_true(stat(path, &info) == 0 && info.st_size == 16 << 20);
    works(write_mebibytes(path, 8, 0, true));
    assert_true(stat(path, &info) == 0 && info.st_size == 8 << 20);
    outfile_limit(NULL);
    works(write_mebibytes(path, 9, 0, false));
    assert_true(stat(path, &info) == 0 && info.st_size == 9 << 20);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(outfile_appears_at_commit),
        cmocka_unit_test(outfile_replaces_and_keeps_mode),
        cmocka_unit_test(outfile_discard_leaves_nothing),
        cmocka_unit_test(outfile_writes_through_symlink),
        cmocka_unit_test(outfile_writes_in_current_folder),
        cmocka_unit_test(outfile_writes_directly_to_fifo),
        cmocka_unit_test(outfile_appends_to_stdout),
        cmocka_unit_test(outfile_limits_open_files),
        cmocka_unit_test(outfile_serves_threads),
        cmocka_unit_test(outfile_error_names_bad_path),
        cmocka_unit_test(outfile_reports_missing_permission),
        cmocka_unit_test(outfile_reports_full_device),
        cmocka_unit_test(outfile_full_disk_leaves_nothing),
        cmocka_unit_test(outfile_size_limit_leaves_nothing),
        cmocka_unit_test(outfile_adds_nothing_to_pipe),
        cmocka_unit_test(outfile_waits_for_full_pipe),
        cmocka_unit_test(outfile_removes_stale_temporary),
        cmocka_unit_test(outfile_keeps_temporary_until_renamed),
        cmocka_unit_test(outfile_reports_vanished_folder),
        cmocka_unit_test(outfile_interrupted_leaves_nothing),
        cmocka_unit_test(csv_writes_tables),
        cmocka_unit_test(csv_reports_full_disk),
        cmocka_unit_test(outfile_timeout_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, files_create, files_remove);
}
