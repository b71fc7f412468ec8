/* test_nbody_restart.c - killed runs of `stdcl nbody` resume from their checkpoint and end with
 * the bytes of an uninterrupted run; engines continue from saved bytes; invalid checkpoints and
 * checkpoints of other runs are rejected.
 *
 *   test_nbody_restart PATH_OF_STDCL [KILLS]     KILLS for each kind of run; 200 in deep
 *   tests. The default is two, for every seventh kind
 * SPDX-License-Identifier: MIT
 */
#include "files.h"
#include "nbody_engine.h"
#include "deep.h"

#include "cli/mapped.h"
#include "cli/message.h"
#include "cli/nbody_checkpoint.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>

static const char *command;
static int kills = 2;
static bool deep;
static char out[1 << 16], err[1 << 16];

static void load_restart_file(const char *name, char *text, size_t room)
{
    char *bytes = bytes_of(in_folder(name), NULL);
    snprintf(text, room, "%s", bytes ? bytes : "");
    free(bytes);
}

static void restart_line_of(char *line, size_t size, const char *arguments)
{
    snprintf(line, size, "cd '%s' && exec '%s' nbody %s >out 2>err", files_folder, command,
             arguments);
}

/* Run `stdcl nbody ARGUMENTS` in the test's folder. */
static int run_restart_command(const char *arguments)
{
    char line[2 * PATH_MAX + 1000];
    restart_line_of(line, sizeof line, arguments);
    const int status = system(line);
    load_restart_file("out", out, sizeof out);
    load_restart_file("err", err, sizeof err);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000;
}

static void restart_succeeds(const char *arguments)
{
    const int status = run_restart_command(arguments);
    if (status != 0)
        fail_msg("stdcl nbody %s: status %d\n%s%s", arguments, status, out, err);
}

/* Fail unless the command fails with one line that contains `words`. */
static void restart_refuses(int status, const char *words, const char *arguments)
{
    const int got = run_restart_command(arguments);
    const char *newline = strchr(err, '\n');
    if (got != status || !strstr(err, words) || !newline || newline[1])
        fail_msg("stdcl nbody %s: status %d, not %d with '%s'\n%s%s", arguments, got, status, words,
                 out, err);
}

static void remove_restart_files(const char *name)
{
    unlink(in_folder(name));
}

/* ---- Killed. --------------------------------------------------------------------------------- */

static void restart_sleep_ms(unsigned long ms)
{
    const struct timespec time = {(time_t)(ms / 1000), (long)(ms % 1000) * 1000000};
    nanosleep(&time, NULL);
}

/* Return the status of c.ckpt, which changes with each checkpoint; all 0 if there is no file. */
static struct stat last_checkpoint(void)
{
    struct stat now = {0};
    (void)!stat(in_folder("c.ckpt"), &now);
    return now;
}

static bool is_new_checkpoint(struct stat before)
{
    const struct stat now = last_checkpoint();
    return now.st_ino != before.st_ino || now.st_mtim.tv_sec != before.st_mtim.tv_sec ||
           now.st_mtim.tv_nsec != before.st_mtim.tv_nsec;
}

/* Start a run and kill it the given milliseconds after its next checkpoint, or after its start.
 * The run may have ended before, and must then have succeeded. Return whether it was killed. */
static bool kill_one(const char *arguments, bool at_start, unsigned long ms)
{
    char line[2 * PATH_MAX + 1000];
    restart_line_of(line, sizeof line, arguments);
    const struct stat before = last_checkpoint();
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        execl("/bin/sh", "sh", "-c", line, (char *)NULL);
        _exit(127);
    }
    siginfo_t ended = {0};
    while (!at_start && !is_new_checkpoint(before) &&
           waitid(P_PID, (id_t)child, &ended, WEXITED | WNOHANG | WNOWAIT) == 0 && !ended.si_pid)
        restart_sleep_ms(2);
    restart_sleep_ms(ms);
    int status;
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, &status, 0), child);
    const bool killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
    load_restart_file("err", err, sizeof err);
    if (!killed && status != 0)
        fail_msg("stdcl nbody %s: status %#x\n%s", arguments, (unsigned)status, err);
    return killed;
}

/* Kill a run, resume it and kill it again, until it ends or was killed `most` times; then let
 * the remainder finish. Three of four kills come soon after a checkpoint, the remaining ones
 * while the resumed run starts and reads. Return the number of kills. */
static int kill_often(const char *arguments, int most, unsigned *seed)
{
    int killed = 0;
    bool alive = true;
    remove_restart_files("c.ckpt");
    while (alive && killed < most) {
        *seed = *seed * 1664525u + 1013904223u;
        const bool at_start = killed > 0 && *seed >> 30 == 0;
        alive = kill_one(killed ? "--resume c.ckpt -q" : arguments, at_start,
                         (*seed >> 16) % (at_start ? 400 : 40));
        killed += alive;
    }
    if (alive)
        restart_succeeds("--resume c.ckpt -q");
    return killed;
}

/* table: the option that writes a table. */
static void check_restart(const char *options, const char *table, const char *every, unsigned seed)
{
    char whole[400], part[400];
    snprintf(whole, sizeof whole, "%s -q %s whole.csv -o whole.npy", options, table);
    snprintf(part, sizeof part, "%s -q %s part.csv -o part.npy --checkpoint c.ckpt --every %s",
             options, table, every);
    restart_succeeds(whole);
    int killed = 0, tries = 0;
    for (; killed < kills && tries < kills; tries++) {
        remove_restart_files("part.npy");
        remove_restart_files("part.csv");
        killed += kill_often(part, kills - killed, &seed);
        check_same_files("whole.npy", "part.npy");
        check_same_files("whole.csv", "part.csv");
    }
    printf("%d kills in %d runs: %s\n", killed, tries, options);
}

/* Every integrator, every stepping, both methods. */
static const char *const runs[] = {
    "-n 300 --dt 1/256 --until 1.001",
    "-n 300 --precision single --dt 1/256 --until 1.001",
    "-n 300 --precision double --dt 1/256 --until 1.001 --integrator yoshida4",
    "-n 300 --precision double --dt 1/256 --until 1.001 --integrator hermite4",
    "-n 60 --dt 1/32 --until 1.001 --stepping adaptive --eps 0.02",
    "-n 200 --dt 1/32 --until 1.001 --stepping block --eps 0.01",
    "-n 100 --dt 1/128 --until 1.001 --integrator hermite6",
    "-n 60 --dt 1/32 --until 1.001 --stepping adaptive --integrator hermite6 --eps 0.05",
    "-n 60 --dt 1/32 --until 1.001 --stepping adaptive --integrator leapfrog --eps 0.05",
    "-n 16 --dt 1/64 --until 1.001 --integrator ias15 --eps 0.02",
    "-n 16 --dt 1/256 --until 1.001 --integrator whfast --eps 0",
    "-n 16 --dt 1/256 --until 1.001 --integrator trace --eps 0",
    "-n 60 --dt 1/256 --until 1.001 --integrator yoshida4",
    "-n 300 --precision single --dt 1/256 --until 1.001 --integrator taylor",
    "-n 2000 --dt 1/64 --until 1.001 --method tree",
    "-n 2000 --dt 1/64 --until 1.001 --method tree --precision double --accuracy 1e-4",
    "-n 1000 --dt 1/16 --until 1.001 --method tree --stepping block --eps 0.02",
    "-n 200 --dt 1/256 --until 1.001 --external plummer:1,1",
};

static void restart_gives_equal_files(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++)
        if (deep || sampled(i, 7))
            check_restart(runs[i], "--csv", "1/32", 13 * (unsigned)i + 20);
}

static void restart_ensemble_gives_equal_files(void **unused)
{
    (void)unused;
    put_text(in_folder("star.tab"),
             "1 0 0 0 0 0 0\n1e-4 1 0 0 0 1 0\n1e-4 0 2 0 -0.70710678118654752 0 0\n");
    check_restart("-i star.tab --ensemble 300 --until 2000", "--elements", "50", 20);
    if (deep || deep_tests()) {
        check_restart("-i star.tab --ensemble 300 --until 2000 --integrator whfast", "--elements",
                      "50", 20);
        check_restart("-i star.tab --ensemble 30 --until 600 --integrator ias15", "--elements",
                      "20", 20);
    }
    restart_succeeds("-i star.tab --ensemble 3 --dt 0.25 --until 5 --checkpoint e.ckpt -q");
    restart_refuses(2, "had different systems, -G, --seed, --spread, --integrator",
                    "--resume e.ckpt --seed 7");
    restart_refuses(2, "has steps of 0.25, but this --dt gives 0.2", "--resume e.ckpt --dt 0.2");
    restart_succeeds("--resume e.ckpt --until 5.1 -o two.npy -q"); /* the last step is shorter */
    restart_succeeds("-i star.tab --ensemble 3 --dt 0.25 --until 5.1 -o one.npy -q");
    check_same_files("one.npy", "two.npy");
    restart_succeeds("--resume e.ckpt --until 6 -q");
    restart_refuses(2, "give a later --until", "--resume e.ckpt --until 5");
    put_text(in_folder("star.tab"),
             "1 0 0 0 0 0 0\n2e-4 1 0 0 0 1 0\n1e-4 0 2 0 -0.70710678118654752 0 0\n");
    restart_refuses(2, "had different systems", "--resume e.ckpt --until 8");
}

/* Write the checkpoint with only some bytes of its state, and the checksum updated. */
static void cut_state(const char *from, size_t state, const char *file)
{
    size_t size;
    struct checkpoint_head head;
    char *image = bytes_of(in_folder(from), &size);
    ready(image);
    memcpy(&head, image, sizeof head);
    head.size = sizeof head + head.text + state;
    assert_true(head.size < size);
    head.sum = checkpoint_sum(image + sizeof head, head.size - sizeof head, sizeof head);
    memcpy(image, &head, sizeof head);
    put_bytes(in_folder(file), image, head.size);
    free(image);
}

/* Fail unless the 4 bytes that end at offset `end` of the state in a checkpoint are 0. */
static void check_unused_bytes(const char *file, size_t end)
{
    size_t size;
    struct checkpoint_head head;
    char *image = bytes_of(in_folder(file), &size);
    ready(image);
    memcpy(&head, image, sizeof head);
    for (size_t i = end - 4; i < end; i++)
        assert_int_equal(image[sizeof head + head.text + i], 0);
    free(image);
}

/* Members are aligned; between them no bytes of other memory get into the file. */
static void restart_checkpoint_has_no_foreign_bytes(void **unused)
{
    static const size_t end[] = {offsetof(struct checkpoint_state, n_start),
                                 offsetof(struct checkpoint_state, hill),
                                 offsetof(struct checkpoint_state, picture)};
    (void)unused;
    restart_succeeds("-n 20 --steps 1 --checkpoint bytes.ckpt -q");
    for (size_t i = 0; i < sizeof end / sizeof *end; i++)
        check_unused_bytes("bytes.ckpt", end[i]);
    put_text(in_folder("star.tab"), "1 0 0 0 0 0 0\n1e-4 1 0 0 0 1 0\n");
    restart_succeeds("-i star.tab --ensemble 3 --dt 0.25 --until 5 --checkpoint bytes.ckpt -q");
    check_unused_bytes("bytes.ckpt", sizeof(struct ensemble_state));
}

/* A run by --steps resumes to a time, and a run to a time resumes by --steps. */
static void restart_accepts_another_end(void **unused)
{
    (void)unused;
    restart_succeeds("-n 20 --steps 10 --dt 1/16 --checkpoint steps.ckpt -q");
    restart_succeeds("--resume steps.ckpt --until 1 -q");
    restart_succeeds("-n 20 --until=0.5 --dt 1/16 --checkpoint until.ckpt -q");
    restart_succeeds("--resume until.ckpt --steps 12 -q");
    restart_refuses(2, "cannot be combined", "--resume until.ckpt --steps 12 --until 1");
}

/* A run to 1.005 and then to 2 ends at 2 with the bytes of one run, and a step that was shortened
 * for the first end is whole in the second. A run to 1, where the last step differs from 0.01 by
 * rounding, too. */
static void restart_in_two_parts_gives_equal_files(void **unused)
{
    static const char *const kinds[] = {
        "-n 50 --integrator leapfrog",
        "-n 50 --precision single",
        "-n 50 --integrator yoshida4",
        "-n 50 --integrator hermite4",
        "-n 50 --integrator hermite6",
        "-n 50 --integrator taylor",
        "-n 8 --integrator ias15",
        "-n 50 --stepping adaptive",
        "-n 50 --stepping block",
        "-n 200 --method tree",
        "-n 200 --method tree --stepping block",
        "-n 50 --external plummer:1,1",
    };
    char words[300];
    (void)unused;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (!deep && !sampled(i, 6))
            continue;
        snprintf(words, sizeof words, "%s --eps 0.05 --dt 0.01 --until 2 -q -o one.npy", kinds[i]);
        restart_succeeds(words);
        for (int k = 0; k < 2; k++) {
            snprintf(words, sizeof words,
                     "%s --eps 0.05 --dt 0.01 --until %s -q -o two.npy --checkpoint two.ckpt",
                     kinds[i], k ? "1" : "1.005");
            restart_succeeds(words);
            restart_succeeds("--resume two.ckpt --until 2 --json");
            assert_non_null(strstr(out, "\"time\": 2.0,"));
            check_same_files("one.npy", "two.npy");
        }
    }
}

/* The checkpoint of a run with a shortened last step is of the time before. Resumed with equal
 * options, the run ends with equal bytes; an end before the checkpoint is refused. */
static void restart_before_shortened_step(void **unused)
{
    (void)unused;
    restart_succeeds("-n 20 --dt 0.01 --until 0.105 --snapshots 0.05 -o s-%d.npy -o one.npy "
                     "--csv one.csv --checkpoint short.ckpt --every 0.01 -q");
    restart_succeeds("--resume short.ckpt -o two.npy --csv two.csv -q");
    check_same_files("one.npy", "two.npy");
    check_same_files("one.csv", "two.csv");
    restart_refuses(2, "at step 10 and time 0.1, but the run ends within step 10",
                    "--resume short.ckpt --until 0.095");
    restart_succeeds("-n 20 --dt 0.01 --until 0.005 --checkpoint short.ckpt -o one.npy -q");
    restart_succeeds("--resume short.ckpt --until 0.02 -q");
    restart_succeeds("-n 20 --dt 0.01 --steps 2 -o two.npy -q");
    check_same_files("one.npy", "two.npy");
}

static void check_time_of(const char *file, const char *time)
{
    char line[40];
    snprintf(line, sizeof line, "\n# time = %s\n", time);
    char *text = bytes_of(in_folder(file), NULL);
    assert_non_null(text);
    assert_non_null(strstr(text, line));
    free(text);
}

/* A new output leaves old outputs alone; tables and series continue. */
static void restart_keeps_old_outputs(void **unused)
{
    (void)unused;
    restart_succeeds("-n 20 --dt 1/64 --until 0.5 --snapshots 0.25 -o k-%d.npy -o old.tab "
                     "--output=old.npy -o table.csv --diag 0.25 --checkpoint keep.ckpt -q");
    restart_succeeds("--resume keep.ckpt --until 1 -o new.tab -q");
    check_time_of("old.tab", "0.5");
    check_time_of("new.tab", "1");
    load_restart_file("table.csv", out, sizeof out);
    assert_non_null(strstr(out, "\n0.25,"));
    assert_non_null(strstr(out, "\n0.75,"));
    load_restart_file("k-series.csv", out, sizeof out);
    assert_non_null(strstr(out, "\n4,\"k-4.npy\",1,64\n"));
    restart_succeeds("--resume keep.ckpt --until 1.5 -o new.tab -o old.tab -q");
    check_time_of("old.tab", "1.5");
    put_text(in_folder("table.csv"), "kept\n");
    restart_succeeds("--resume keep.ckpt -o other.csv -q");
    load_restart_file("table.csv", out, sizeof out);
    assert_string_equal(out, "kept\n");
}

/* A series with other times, a new series, and pictures up to an earlier end. */
static void restart_accepts_other_times_of_outputs(void **unused)
{
    (void)unused;
    restart_succeeds("-n 20 --dt 1/64 --until 0.5 --snapshots 0.25 -o t-%d.npy "
                     "--checkpoint times.ckpt -q");
    restart_succeeds("--resume times.ckpt --until 1 --snapshots 0.125 -o t-%d.npy -q");
    load_restart_file("t-series.csv", out, sizeof out);
    assert_non_null(strstr(out, "\n2,\"t-2.npy\",0.5,32\n3,\"t-3.npy\",0.625,40\n"));
    restart_succeeds("-n 20 --dt 1/64 --until 0.5 --checkpoint times.ckpt -q");
    restart_succeeds("--resume times.ckpt --until 1 --snapshots 0.25 -o u-%d.npy -q");
    load_restart_file("u-series.csv", out, sizeof out);
    assert_non_null(strstr(out, "\n0,\"u-0.npy\",0.75,48\n1,\"u-1.npy\",1,64\n"));
    if (run_restart_command("-n 20 --dt 1/64 --until 1 --frames 9 --time-limit 1e-9 "
                            "--checkpoint times.ckpt --size 16 -o f.png -q") != 0)
        skip(); /* no libpng */
    restart_succeeds("--resume times.ckpt --until 0.25 --time-limit 100 -q");
    assert_int_equal(access(in_folder("f-0009.png"), F_OK), 0);
}

/* A series is complete after its run was killed and resumed, and another end may be given. */
static void restart_series_is_whole(void **unused)
{
    (void)unused;
    restart_succeeds(
        "-n 50 --dt 1/64 --until 1 --snapshots 0.125 -o whole-%d.npy --structure whole.json -q");
    kill_often(
        "-n 50 --dt 1/64 --until 1 --snapshots 0.125 -o part-%d.npy --structure part.json --checkpoint c.ckpt --every 1/16 -q",
        2, &(unsigned){5});
    char name[2][32];
    for (int i = 0; i <= 8; i++) {
        snprintf(name[0], sizeof *name, "whole-%d.npy", i);
        snprintf(name[1], sizeof *name, "part-%d.npy", i);
        check_same_files(name[0], name[1]);
    }
    check_same_files("whole.json", "part.json");
    load_restart_file("part-series.csv", out, sizeof out);
    assert_non_null(strstr(out, "\n0,\"part-0.npy\",0,0\n"));
    assert_non_null(strstr(out, "\n8,\"part-8.npy\",1,64\n"));
    restart_succeeds("--resume c.ckpt -q --until 1.5");
    load_restart_file("part-series.csv", out, sizeof out);
    assert_non_null(strstr(out, "\n12,\"part-12.npy\",1.5,96\n"));
}

/* A job script may repeat the command line with --resume. Settings are not recorded twice, so
 * files are equal. */
static void restart_accepts_same_command_line(void **unused)
{
    static const char line[] =
        "-n 20 --dt 1/64 --steps 48 --external plummer:1,1 -q -o end.tab -o end.npy --csv end.csv --eps 0.05";
    char words[300];
    (void)unused;
    snprintf(words, sizeof words, "%s --checkpoint c.ckpt --every 1/4", line);
    restart_succeeds(words);
    size_t size, again;
    char *whole = bytes_of(in_folder("end.tab"), &size);
    strcat(words, " --resume c.ckpt");
    for (int i = 0; i < 2; i++) {
        remove_restart_files("end.tab");
        restart_succeeds(words);
        char *bytes = bytes_of(in_folder("end.tab"), &again);
        assert_int_equal(again, size);
        assert_memory_equal(bytes, whole, size);
        free(bytes);
    }
    free(whole);
    restart_succeeds("--resume c.ckpt --steps 49 --eps=0.05"); /* another spelling, too */
    restart_succeeds("--resume c.ckpt --steps 50");
    restart_refuses(2, "had different values of --eps", "--resume c.ckpt --steps 51 --eps 0.02");
}

/* A list given again replaces the saved one as a whole: the file names the line of the resumed
 * run. */
static void restart_replaces_saved_lists(void **unused)
{
    (void)unused;
    restart_succeeds(
        "-n 200 --dt 1/64 --steps 2 --device 0 --events events.csv --event encounter:0.1 "
        "--event=escape:9 --external plummer:1,1 --external logarithmic:1,2 --checkpoint list.ckpt -q");
    restart_succeeds("--resume list.ckpt --steps 4 --device=all:0 --event escape:5 "
                     "--event escape:9 -o list.tab -q");
    load_restart_file("list.tab", out, sizeof out);
    assert_null(strstr(out, "--device 0"));
    assert_null(strstr(out, "encounter:0.1"));
    assert_null(strstr(out, "--event=escape:9"));
    assert_non_null(strstr(out, "--external plummer:1,1 --external logarithmic:1,2"));
    assert_non_null(strstr(out, "--device=all:0 --event escape:5 --event escape:9"));
    restart_refuses(2, "had different values of --external",
                    "--resume list.ckpt --steps 5 --external logarithmic:1,2");
    restart_succeeds(
        "--resume list.ckpt --steps 6 --external=plummer:1,1 --external logarithmic:1,2");
}

/* The first run ends where a row is due: the resumed run has that row, and the bytes of one run. */
static void restart_keeps_row_of_first_end(void **unused)
{
    static const char *const kinds[] = {
        "-n 8 --integrator whfast --eps 0", "-n 8 --integrator ias15",
        "-n 8 --integrator trace --eps 0",  "-n 100 --precision mixed",
        "-n 50 --stepping block",           "-n 200 --method tree"};
    static const char *const files[] = {"rows-%s.csv", "elements-%s.csv", "shells-%s.csv"};
    char words[400], name[2][32];
    (void)unused;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        for (int k = 0; k < 2; k++) {
            if (!deep && !sampled(2 * i + (size_t)k, 5))
                continue;
            snprintf(words, sizeof words,
                     "%s --dt 1/64 --until 1 --diag 0.25 --csv rows-1.csv --elements "
                     "elements-1.csv --structure shells-1.csv -q",
                     kinds[i]);
            restart_succeeds(words);
            snprintf(words, sizeof words,
                     "%s --dt 1/64 --until %s --diag 0.25 --csv rows-2.csv --elements "
                     "elements-2.csv --structure shells-2.csv --checkpoint rows.ckpt -q",
                     kinds[i], k ? "0.375" : "0.5");
            restart_succeeds(words);
            restart_succeeds("--resume rows.ckpt --until 1 -q");
            for (size_t j = 0; j < sizeof files / sizeof *files; j++) {
                snprintf(name[0], sizeof *name, files[j], "1");
                snprintf(name[1], sizeof *name, files[j], "2");
                check_same_files(name[0], name[1]);
            }
        }
}

/* A stop condition is checked where a row is due; the end adds no second row of that time. */
static void restart_stopped_run_has_one_row_a_time(void **unused)
{
    (void)unused;
    restart_succeeds("-n 20 --dt 1/64 --until 1 --diag 0.25 --stop-distance 1e-3 --csv stop.csv "
                     "--elements stop-elements.csv -q");
    load_restart_file("stop.csv", out, sizeof out);
    const char *row = strstr(out, "\n0.25,");
    assert_non_null(row);
    assert_null(strstr(row + 1, "\n0.25,"));
    size_t lines = 0;
    load_restart_file("stop-elements.csv", out, sizeof out);
    for (const char *c = out; *c; c++)
        lines += *c == '\n';
    assert_int_equal(lines, 1 + 2 * 19); /* the header; at 0 and 0.25 all but the heaviest body */
}

/* After all pictures of --frames the user is told how many continue them. */
static void restart_names_frames_that_continue(void **unused)
{
    (void)unused;
    if (run_restart_command("-n 20 --dt 1/64 --steps 30 --frames 4 -o g.png --size 16 "
                            "--checkpoint frames.ckpt") != 0)
        skip(); /* no libpng */
    restart_succeeds("--resume frames.ckpt --steps 60");
    assert_non_null(strstr(err, "no picture is due, because all 4 of --frames were drawn before "
                                "the checkpoint; give --frames 7 to draw them up to the end"));
    assert_null(strstr(out, "g-0004.png"));
    assert_int_equal(access(in_folder("g-0005.png"), F_OK), -1);
    restart_succeeds("-n 20 --dt 1/64 --steps 30 --frames 4 -o g.png --size 16 "
                     "--checkpoint frames.ckpt");
    restart_succeeds("--resume frames.ckpt --steps 60 --frames 5 --checkpoint other.ckpt");
    assert_non_null(strstr(err, "pictures before the checkpoint have shorter intervals than those "
                                "after it, because the run ends later now; give --frames 7 for "
                                "equal intervals"));
    restart_succeeds("--resume frames.ckpt --steps 60 --frames 7");
    assert_string_equal(err, "");
    assert_non_null(strstr(out, "g-0001.png ... g-0007.png"));
    restart_succeeds("-n 20 --dt 1/64 --steps 60 --frames 7 -o h.png --size 16 -q");
    check_same_files("g-0005.png", "h-0005.png"); /* equal interval and frame */
    check_same_files("g-0007.png", "h-0007.png");
}

/* A resumed ensemble begins tables and a series of its own; the report names all of them. */
static void restart_ensemble_adds_outputs(void **unused)
{
    (void)unused;
    put_text(in_folder("planets.tab"),
             "1 0 0 0 0 0 0\n1e-4 1 0 0 0 1 0\n1e-4 0 2 0 -0.70710678118654752 0 0\n");
    restart_succeeds("-i planets.tab --ensemble 5 --systems 2,4 --dt 0.25 --until 10 "
                     "--checkpoint add.ckpt");
    restart_succeeds("--resume add.ckpt --until 20 --csv add.csv --elements add-elements.csv "
                     "--diag 4 --snapshots 4 -o add-%d.npy");
    assert_non_null(strstr(out, "add-elements.csv"));
    assert_non_null(strstr(out, "add.csv"));
    restart_succeeds("-i planets.tab --ensemble 5 --systems 2,4 --dt 0.25 --until 20 --diag 4 "
                     "--csv one.csv --elements one-elements.csv --snapshots 4 -o one-%d.npy -q");
    check_same_files("add-0.npy", "one-3.npy"); /* of time 12 */
    check_same_files("add-2.npy", "one-5.npy"); /* of time 20 */
    char *whole = bytes_of(in_folder("one.csv"), NULL),
         *added = bytes_of(in_folder("add.csv"), NULL);
    ready(whole);
    ready(added);
    const char *begun = strchr(added, '\n'), *later = strstr(whole, "\n2,12,");
    assert_string_equal(begun, later);
    free(whole);
    free(added);
    cut_state("add.ckpt", 40, "cut.ckpt");
    restart_refuses(1, "cut.ckpt is damaged: it ends within the state of the ensemble",
                    "--resume cut.ckpt");
}

/* A file converted without steps has the default integrator, step and precision of a later run; the
 * run ends with the bytes of a run of the original file. */
static void restart_converted_file_keeps_defaults(void **unused)
{
    (void)unused;
    put_text(in_folder("pair.tab"), "1 0 0 0 0 0 0\n1e-4 1 0 0 0 1 0\n");
    restart_succeeds("-i pair.tab --until 20 -o direct.npy --json");
    assert_non_null(strstr(out, "\"integrator\": \"ias15\""));
    restart_succeeds("-i pair.tab --steps 0 -o converted.tab -q");
    restart_succeeds("-i converted.tab --until 20 -o indirect.npy --json");
    assert_non_null(strstr(out, "\"integrator\": \"ias15\""));
    check_same_files("direct.npy", "indirect.npy");
    restart_succeeds("-i pair.tab --steps 0 --dt 0.125 --integrator whfast -o converted.tab -q");
    restart_succeeds("-i converted.tab --steps 0 -o again.tab -q");
    char *text = bytes_of(in_folder("again.tab"), NULL);
    ready(text);
    assert_non_null(strstr(text, "\n# integrator = whfast\n"));
    assert_non_null(strstr(text, "\n# step = 0.125\n"));
    free(text);
}

/* ---- Refused. -------------------------------------------------------------------------------- */

/* Write the checkpoint with one text of its JSON replaced by another of equal length, and the
 * checksum updated. */
static void change(const char *from, const char *to, const char *file)
{
    size_t size;
    struct checkpoint_head head;
    char *bytes = bytes_of(in_folder("good.ckpt"), &size);
    ready(bytes);
    char *at = memmem(bytes, size, from, strlen(from));
    ready(at);
    memcpy(at, to, strlen(to));
    memcpy(&head, bytes, sizeof head);
    head.sum = checkpoint_sum(bytes + sizeof head, size - sizeof head, sizeof head);
    memcpy(bytes, &head, sizeof head);
    put_bytes(in_folder(file), bytes, size);
    free(bytes);
}

static void restart_rejects_other_settings(void **unused)
{
    (void)unused;
    restart_succeeds("-n 200 --dt 1/64 --until 0.5 --checkpoint good.ckpt -q -o end.npy");
    restart_succeeds("--resume good.ckpt -q");
    restart_refuses(
        2, "had different values of --eps, --dt, --integrator; to change them, start a new run",
        "--resume good.ckpt --eps 1 --dt 1/32 --integrator hermite4");
    restart_refuses(
        2, "had different values of -n, --ic, --seed, -G, --precision, --method, --accuracy",
        "--resume good.ckpt -n 21 --ic cold --seed 3 -G 2 --precision double --method tree --accuracy 0.1");
    restart_succeeds("--resume good.ckpt -q --eps 0.02 --dt 1/64");
    restart_refuses(2, "give a later --until", "--resume good.ckpt --until 0.25");
    change("driver", "wizard", "device.ckpt");
    restart_refuses(1, "or use --resume-anyway", "--resume device.ckpt");
    restart_succeeds("--resume device.ckpt --resume-anyway -q");
    change("\"" STDCL_VERSION "\"", "\"0.0.1\"", "version.ckpt");
    restart_refuses(1, "was written by version 0.0.1, but this is version " STDCL_VERSION,
                    "--resume version.ckpt");
    restart_succeeds("--resume version.ckpt --resume-anyway -q");
    restart_refuses(2, "--resume-anyway needs --resume FILE", "-n 8 --resume-anyway");
    restart_refuses(2, "--every-minutes needs --checkpoint FILE", "-n 8 --every-minutes 3");
    restart_refuses(1, "the folder 'none' does not exist", "-n 8 --checkpoint none/c");
    restart_refuses(2, "is given twice as output", "-n 8 --checkpoint a.tab -o a.tab");
}

static void restart_rejects_corrupt_checkpoint(void **unused)
{
    size_t size;
    char *bytes = bytes_of(in_folder("good.ckpt"), &size), words[64];
    (void)unused;
    ready(bytes);
    restart_refuses(1, "none.ckpt: No such file", "--resume none.ckpt");
    restart_refuses(1, ".: is a directory; give the name of a checkpoint in it", "--resume .");
    restart_refuses(1, "/dev/null: not a regular file", "--resume /dev/null");
    assert_int_equal(mkfifo(in_folder("pipe.ckpt"), 0600), 0); /* which nobody ever writes to */
    restart_refuses(1, "pipe.ckpt: is a pipe", "--resume pipe.ckpt");
    put_text(in_folder("foreign.ckpt"), "1 2 3 4 5 6 7\n");
    restart_refuses(1, "foreign.ckpt is not a checkpoint of stdcl", "--resume foreign.ckpt");
    put_bytes(in_folder("cut.ckpt"), bytes, size - 1);
    snprintf(words, sizeof words, "cut.ckpt is truncated: %zu bytes of %zu", size - 1, size);
    restart_refuses(1, words, "--resume cut.ckpt");
    for (size_t i = 0; i < 4; i++) { /* of the size, the JSON, the masses, the engine */
        const size_t at = (size_t[]){24, 60, size / 2, size - 3}[i];
        bytes[at] ^= 4;
        put_bytes(in_folder("flipped.ckpt"), bytes, size);
        bytes[at] ^= 4;
        restart_refuses(
            1, i ? "flipped.ckpt is damaged: its checksum does not match" : "flipped.ckpt is",
            "--resume flipped.ckpt");
    }
    free(bytes);
}

/* Write good.ckpt with a value in its state replaced, and the checksum updated. */
static void forge(size_t offset, const void *value, size_t bytes, const char *file)
{
    size_t size;
    struct checkpoint_head head;
    char *image = bytes_of(in_folder("good.ckpt"), &size);
    ready(image);
    memcpy(&head, image, sizeof head);
    memcpy(image + sizeof head + head.text + offset, value, bytes);
    head.sum = checkpoint_sum(image + sizeof head, size - sizeof head, sizeof head);
    memcpy(image, &head, sizeof head);
    put_bytes(in_folder(file), image, size);
    free(image);
}

enum mapped_fault { MAPPED, FOREIGN, SENT };

/* In a child process: read the last byte of a mapped file after it became empty, or of a FOREIGN
 * mapping, which cli_map did not make; or SENT: send SIGBUS to itself. Return the child's status,
 * with its stderr in `err`. */
static int read_mapped_after_cut(enum mapped_fault fault)
{
    enum { BYTES = 100000 };
    static const char zeros[BYTES];
    int status = 0;
    put_bytes(in_folder("cut.ckpt"), zeros, BYTES);
    const pid_t child = fork();
    if (child == 0) {
        signal(SIGBUS, SIG_DFL); /* cmocka has a handler */
        const int fd = open(in_folder("cut.ckpt"), O_RDWR);
        char *bytes = cli_map(fd, BYTES, "--resume", "cut.ckpt");
        if (fault == FOREIGN)
            bytes = mmap(NULL, BYTES, PROT_READ, MAP_SHARED, fd, 0);
        if (!bytes || bytes == MAP_FAILED || bytes[BYTES - 1] || ftruncate(fd, 0) != 0 ||
            !freopen(in_folder("err"), "w", stderr))
            _exit(3);
        if (fault == SENT)
            _exit(raise(SIGBUS) ? 6 : 7);
        _exit(bytes[BYTES - 1] ? 4 : 5);
    }
    assert_true(child > 0 && waitpid(child, &status, 0) == child);
    load_restart_file("err", err, sizeof err);
    return status;
}

static void restart_names_checkpoint_that_is_truncated_meanwhile(void **unused)
{
    (void)unused;
    cli_program = "stdcl nbody";
    int status = read_mapped_after_cut(MAPPED);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 1);
    assert_string_equal(err, "stdcl nbody: --resume: cut.ckpt was truncated by another program "
                             "while it was read, or its disk failed\n");
    for (enum mapped_fault fault = FOREIGN; fault <= SENT; fault++) {
        status = read_mapped_after_cut(fault);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS);
        assert_string_equal(err, "");
    }
}

#define FIELD(name) offsetof(struct checkpoint_state, name)

/* The checksum can be computed by anyone: every length and every choice is checked. */
static void restart_rejects_forged_lengths(void **unused)
{
    static const size_t lengths[] = {FIELD(n),      FIELD(gas),   FIELD(series),
                                     FIELD(rows),   FIELD(path),  FIELD(engine),
                                     FIELD(events), FIELD(found), FIELD(frames_done)};
    static const size_t choices[] = {FIELD(integrator),   FIELD(precision), FIELD(method),
                                     FIELD(stepping),     FIELD(also),      FIELD(own_eps),
                                     FIELD(picture.plane)};
    const size_t large[] = {(size_t)1 << 40, SIZE_MAX, ((size_t)1 << 61) + 5};
    const int wrong = 99;
    const double none = NAN;
    (void)unused;
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        forge(lengths[i], &large[i % 3], sizeof large[0], "forged.ckpt");
        restart_refuses(1, "forged.ckpt is damaged: its ", "--resume forged.ckpt");
    }
    for (size_t i = 0; i < sizeof choices / sizeof *choices; i++) {
        forge(choices[i], &wrong, sizeof wrong, "forged.ckpt");
        restart_refuses(1, "forged.ckpt is damaged: its ", "--resume forged.ckpt");
    }
    cut_state("good.ckpt", 200, "forged.ckpt");
    restart_refuses(1, "forged.ckpt is damaged: it ends within the state of the run",
                    "--resume forged.ckpt");
    forge(FIELD(dt), &none, sizeof none, "forged.ckpt");
    restart_refuses(1, "forged.ckpt is damaged: its value 'options' is out of range",
                    "--resume forged.ckpt");
    forge(sizeof(struct checkpoint_state), &none, sizeof none, "forged.ckpt");
    restart_refuses(1, "forged.ckpt is damaged: body 1 of its part 'masses' is out of range",
                    "--resume forged.ckpt");
}

/* The JSON object has what is used of it. */
static void restart_rejects_forged_words(void **unused)
{
    static const char *const words[] = {"version", "devices",  "command",
                                        "notes",   "external", "ensemble"};
    char from[32], to[32], message[80];
    (void)unused;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        snprintf(from, sizeof from, "\"%s\"", words[i]);
        snprintf(to, sizeof to, "\"X%s\"", words[i] + 1);
        snprintf(message, sizeof message, "words.ckpt is damaged: it has no valid entry '%s'",
                 words[i]);
        change(from, to, "words.ckpt");
        restart_refuses(1, message, "--resume words.ckpt");
    }
    put_text(in_folder("field.tab"), "# external = point:1\n1 1 0 0 0 1 0\n1 2 0 0 0 1 0\n");
    restart_succeeds("-i field.tab --dt 1/64 --steps 4 --checkpoint good.ckpt -q");
    change("\"external\": \"point:1\"", "\"external\": \"point:x\"", "words.ckpt");
    restart_refuses(1, "words.ckpt is damaged: its value 'external' is 'point:x'\n",
                    "--resume words.ckpt");
    change("\"nbody\"", "1234567", "words.ckpt"); /* a word that is no text */
    restart_refuses(1, "no valid entry 'command'", "--resume words.ckpt");
}

/* A checkpoint may come from a stranger: outputs that it names elsewhere are not written, unless
 * they are given again. */
static void restart_needs_outputs_elsewhere_again(void **unused)
{
    (void)unused;
    assert_int_equal(mkdir(in_folder("sub"), 0700), 0);
    assert_int_equal(symlink("../target.tab", in_folder("sub/link.tab")), 0);
    put_text(in_folder("target.tab"), "precious\n");
    restart_succeeds("-n 8 --dt 1/64 --steps 4 -q --checkpoint sub/c.ckpt -o sub/in.tab "
                     "--output sub/../out.tab");
    put_text(in_folder("out.tab"), "precious\n");
    restart_refuses(2,
                    "sub/c.ckpt names outputs that are not below its folder; to write them, give "
                    "them again: --output sub/../out.tab\n",
                    "--resume sub/c.ckpt --steps 8 -q");
    char *kept = bytes_of(in_folder("out.tab"), NULL);
    assert_string_equal(kept, "precious\n");
    free(kept);
    restart_succeeds("--resume sub/c.ckpt --steps 8 -q --output sub/../out.tab");
    check_same_files("out.tab", "sub/in.tab");
    restart_succeeds("-n 8 --dt 1/64 --steps 4 -q --checkpoint sub/c.ckpt -o sub/link.tab");
    restart_refuses(2, "give them again: -o sub/link.tab\n", "--resume sub/c.ckpt --steps 8 -q");
    assert_int_equal(mkdir(in_folder("sub/gone"), 0700), 0);
    restart_succeeds("-n 8 --dt 1/64 --steps 4 -q --checkpoint sub/c.ckpt -o sub/gone/k.tab");
    remove_restart_files("sub/gone/k.tab");
    assert_int_equal(rmdir(in_folder("sub/gone")), 0);
    restart_refuses(1, "the folder 'sub/gone' does not exist; create it first\n",
                    "--resume sub/c.ckpt --steps 8 -q");
    restart_succeeds("-n 8 --dt 1/64 --steps 4 -q --checkpoint good.ckpt --trace=sub/t.json");
    change("--trace=sub/t.json", "--view=unix:o.sock", "sub/c.ckpt");
    restart_refuses(2, "give them again: --checkpoint good.ckpt, --view=unix:o.sock\n",
                    "--resume sub/c.ckpt -q");
    assert_int_equal(access(in_folder("o.sock"), F_OK), -1);
}

/* ---- Engines. -------------------------------------------------------------------------------- */

enum { N = 150 };
static double mass[N], pos[N][3], vel[N][3], far[N][3];

static nbody *restart_engine(struct nbody_options o, rows x, rows v)
{
    double equal[64];
    for (size_t d = 0; d < sizeof equal / sizeof *equal; d++)
        equal[d] = 1; /* measured, two engines may get unlike ones */
    o.ctx = stddev;
    o.eps = integrates_planets(o.integrator) ? 0 : 0.1;
    o.dt = 1. / 64;
    o.shares = equal;
    nbody *nb = nbody_create(&o, N, mass, x, v);
    ready(nb);
    return nb;
}

enum { GUARD = 4096 }; /* bytes behind a snapshot, which stay as they are */

/* One engine makes 5 steps, is saved, and makes 6 more; the other resumes from the saved bytes.
 * A snapshot held meanwhile equals the saved state. */
static void check_restarted_engine(struct nbody_options o)
{
    nbody *a = restart_engine(o, (rows)pos, (rows)vel),
          *b = restart_engine(o, (rows)far, (rows)far);
    const size_t size = nbody_save_bytes(a);
    assert_int_equal(nbody_save_bytes(b), size);
    char *first = malloc(size), *one = malloc(size + GUARD), *other = malloc(size);
    works(nbody_step(a, 5));
    fails(EINVAL, nbody_snapshot_read(a, one));
    works(nbody_save(a, first));
    works(nbody_snapshot_begin(a));
    works(nbody_load(b, first, size));
    assert_true(nbody_time(b) == nbody_time(a) && nbody_steps(b) == 5);
    works(nbody_step(a, 6));
    works(nbody_step(b, 6));
    memset(one, 1, size + GUARD);
    works(nbody_snapshot_read(a, one));
    assert_memory_equal(one, first, size);
    for (size_t i = size; i < size + GUARD; i++)
        assert_int_equal(one[i], 1);
    works(nbody_snapshot_begin(a)); /* again, never read */
    works(nbody_save(a, one));
    works(nbody_save(b, other));
    assert_memory_equal(one, other, size);
    assert_true(memcmp(one, first, size) != 0);
    fails(EINVAL, nbody_load(b, first, size - 1));
    fails(EINVAL, nbody_load(b, first, 7));
    free(first);
    free(one);
    free(other);
    nbody_free(a);
    nbody_free(b);
}

static void restart_engine_gives_equal_bits(void **unused)
{
    (void)unused;
    works(nbody_initial(NBODY_PLUMMER, N, 7, mass, pos, vel));
    for (size_t i = 0; i < N; i++)
        far[i][0] = 100 + (double)i;
    const struct nbody_options others[] = {
        {.integrator = NBODY_HERMITE4, .stepping = NBODY_BLOCK},
        {.integrator = NBODY_HERMITE4, .stepping = NBODY_ADAPTIVE},
        {.integrator = NBODY_YOSHIDA4, .stepping = NBODY_ADAPTIVE},
        {.integrator = NBODY_HERMITE6, .stepping = NBODY_ADAPTIVE},
        {.method = NBODY_TREE, .stepping = NBODY_BLOCK},
        {.method = NBODY_TREE},
        {.precision = context_has_doubles() ? NBODY_MIXED : NBODY_SINGLE}};
    for (enum nbody_integrator i = NBODY_LEAPFROG; nbody_integrator_describe(i);
         i = (enum nbody_integrator)(i + 1))
        if (sampled(i, 2) && (!integrates_planets(i) || context_has_doubles()))
            check_restarted_engine((struct nbody_options){
                .integrator = i, .precision = integrates_planets(i) ? NBODY_DOUBLE : NBODY_SINGLE});
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (sampled(i, 2))
            check_restarted_engine(others[i]);
}

/* Direct sums over sorted bodies save an order, but no |a| of the tree. */
static void restart_snapshot_of_clustered_bodies_equals_saved_state(void **unused)
{
    (void)unused;
    if (!context_has_doubles())
        skip();
    works(nbody_initial(NBODY_PLUMMER, N, 7, mass, pos, vel));
    check_restarted_engine(
        (struct nbody_options){.precision = NBODY_MIXED, .shape = "cluster_min=2"});
}

static void restart_rejects_other_engine(void **unused)
{
    (void)unused;
    nbody *a = restart_engine((struct nbody_options){0}, (rows)pos, (rows)vel);
    nbody *b =
        restart_engine((struct nbody_options){.integrator = NBODY_HERMITE4}, (rows)pos, (rows)vel);
    nbody *c = restart_engine((struct nbody_options){.method = NBODY_TREE}, (rows)pos, (rows)vel);
    const size_t size = nbody_save_bytes(a);
    char *bytes = malloc(size);
    works(nbody_save(a, bytes));
    fails_saying(EINVAL, nbody_load(b, bytes, size), "another integrator");
    fails_saying(EINVAL, nbody_load(c, bytes, size), "another method");
    free(bytes);
    const size_t sorted = nbody_save_bytes(c);
    const uint32_t body = N + 1; /* the last of the storage order, which is used as an index */
    bytes = malloc(sorted);
    works(nbody_save(c, bytes));
    works(nbody_load(c, bytes, sorted));
    memcpy(bytes + sorted - sizeof body, &body, sizeof body);
    fails_saying(EINVAL, nbody_load(c, bytes, sorted), "saved order of the bodies is damaged");
    free(bytes);
    nbody_free(a);
    nbody_free(b);
    nbody_free(c);
}

int main(int argc, char **argv)
{
    struct CMUnitTest tests[] = {
        cmocka_unit_test(restart_engine_gives_equal_bits),
        cmocka_unit_test(restart_snapshot_of_clustered_bodies_equals_saved_state),
        cmocka_unit_test(restart_rejects_other_engine),
        cmocka_unit_test(restart_accepts_same_command_line),
        cmocka_unit_test(restart_checkpoint_has_no_foreign_bytes),
        cmocka_unit_test(restart_replaces_saved_lists),
        cmocka_unit_test(restart_rejects_other_settings),
        cmocka_unit_test(restart_rejects_corrupt_checkpoint), /* the file left by
                                                                 restart_rejects_other_settings */
        cmocka_unit_test(restart_names_checkpoint_that_is_truncated_meanwhile),
        cmocka_unit_test(restart_rejects_forged_lengths),
        cmocka_unit_test(restart_rejects_forged_words),
        cmocka_unit_test(restart_needs_outputs_elsewhere_again),
        cmocka_unit_test(restart_in_two_parts_gives_equal_files),
        cmocka_unit_test(restart_before_shortened_step),
        cmocka_unit_test(restart_keeps_old_outputs),
        cmocka_unit_test(restart_accepts_other_times_of_outputs),
        cmocka_unit_test(restart_accepts_another_end),
        cmocka_unit_test(restart_keeps_row_of_first_end),
        cmocka_unit_test(restart_stopped_run_has_one_row_a_time),
        cmocka_unit_test(restart_names_frames_that_continue),
        cmocka_unit_test(restart_ensemble_adds_outputs),
        cmocka_unit_test(restart_converted_file_keeps_defaults),
        /* Of the following, every n-th runs. */
        cmocka_unit_test(restart_gives_equal_files),
        cmocka_unit_test(restart_ensemble_gives_equal_files),
        cmocka_unit_test(restart_series_is_whole),
    };
    if (argc < 2)
        return fprintf(stderr, "usage: test_nbody_restart PATH_OF_STDCL [KILLS]\n"), 2;
    command = argv[1];
    deep = argc > 2;
    if (deep)
        kills = atoi(argv[2]);
    return sampled_run("restart", tests, 20, 3, files_create, files_remove);
}
