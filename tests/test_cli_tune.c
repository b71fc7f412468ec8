/* `stdcl tune`, and --profile, --trace and --explain of other commands, as a user runs them.
 *
 *   test_cli_tune PATH_OF_STDCL
 *
 * Searches are short: what matters is that the result is stored, used and reported.
 * SPDX-License-Identifier: MIT
 */
#include "files.h"
#include "deep.h"

#include <jansson.h>
#include <math.h>
#include <signal.h>
#include <sys/wait.h>

static const char *command; /* the path of stdcl */
static char *out, *err;     /* output of the last run */

/* Keep compiled kernels in their usual cache, although XDG_CACHE_HOME changes. */
static void keep_compiled_kernels(void)
{
    char path[PATH_MAX];
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (cache || home) {
        snprintf(path, sizeof path, "%.1000s%s/pocl/kcache", cache ? cache : home,
                 cache ? "" : "/.cache");
        setenv("POCL_CACHE_DIR", path, 0);
    }
}

/* Give every test a cache of its own. */
static int use_own_cache(void **unused)
{
    static int number;
    char name[32];
    (void)unused;
    snprintf(name, sizeof name, "cache%d", number++);
    setenv("XDG_CACHE_HOME", in_folder(name), 1);
    return 0;
}

static const char *stored_entries(void)
{
    static char path[PATH_MAX];
    snprintf(path, sizeof path, "%.1000s/stdcl/tune.json", getenv("XDG_CACHE_HOME"));
    return path;
}

static void read_what_was_said(void)
{
    size_t size;
    free(out);
    free(err);
    out = bytes_of(in_folder("out"), &size);
    err = bytes_of(in_folder("err"), &size);
}

/* Run `stdcl ARGUMENTS` in the folder, through the shell. */
static int run_tune_command(const char *arguments)
{
    char line[3 * PATH_MAX];
    snprintf(line, sizeof line, "cd '%.1000s' && exec '%.1000s' %s >out 2>err </dev/null",
             files_folder, command, arguments);
    int status = system(line);
    read_what_was_said();
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

static void expect_tune_status(int right, const char *arguments)
{
    int status = run_tune_command(arguments);
    if (status != right)
        fail_msg("stdcl %s ends with %d\n%s%s", arguments, status, out, err);
}

/* Expect one line that names the wrong usage, and no other output. */
static void expect_tune_refused(const char *arguments, int status, const char *part)
{
    expect_tune_status(status, arguments);
    assert_string_equal(out, "");
    contains(err, part);
    assert_ptr_equal(strchr(err, '\n'), err + strlen(err) - 1);
}

static json_t *parsed(const char *text)
{
    json_error_t error;
    json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, &error);
    if (!root)
        fail_msg("%s in: %s", error.text, text);
    return root;
}

static json_t *json_from_tune_file(const char *name)
{
    size_t size;
    char *text = bytes_of(in_folder(name), &size);
    ready(text);
    json_t *root = parsed(text);
    free(text);
    return root;
}

static const char *json_text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    if (!text)
        fail_msg("no text \"%s\"", key);
    return text;
}

static double json_number_in(const json_t *object, const char *key)
{
    if (!json_is_number(json_object_get(object, key)))
        fail_msg("no number \"%s\"", key);
    return json_number_value(json_object_get(object, key));
}

/* A search of 0.6 seconds, or up to one candidate more, as JSON; the caller releases it. */
#define SEARCH "tune nbody.direct.single --size 500 --minutes 0.01 --json"

static json_t *search_report(const char *arguments)
{
    expect_tune_status(0, arguments);
    assert_string_equal(err, ""); /* no terminal: no progress */
    return parsed(out);
}

static json_t *search_result(const json_t *report, size_t i)
{
    json_t *r = json_array_get(json_object_get(report, "results"), i);
    ready(r);
    return r;
}

/* ---- Searching. ---- */

static void cli_tune_stores_and_uses_entry(void **unused)
{
    (void)unused;
    json_t *first = search_report(SEARCH), *r = search_result(first, 0);
    assert_string_equal(json_text_of(first, "program"), "tune");
    assert_string_equal(json_text_of(r, "kernel"), "nbody.direct.single");
    assert_string_equal(json_text_of(r, "unit"), "interactions/s");
    assert_true(json_number_in(r, "size") == 500 && json_number_in(r, "rate") > 1e6);
    assert_true(json_number_in(r, "rate") >= json_number_in(r, "rate_before"));
    assert_true(json_number_in(r, "shapes_run") >= 1 && json_number_in(r, "seconds") > 0);
    assert_string_equal(json_text_of(first, "kept_in"), stored_entries());
    assert_true(json_is_false(json_object_get(first, "interrupted")));

    json_t *second = search_report(SEARCH),
           *after = search_result(second, 0); /* goes on from there */
    assert_string_equal(json_text_of(after, "shape_before"), json_text_of(r, "shape"));
    contains(json_text_of(after, "source_before"), "measured on this device and driver");
    expect_tune_status(0, "nbody -n 500 --steps 3 --precision single --explain -q");
    contains(err, "nbody.direct.single, size 500: the row of ");
    contains(err, "measured on this device and driver");
    long group = cltune_value(json_text_of(after, "shape"), "group", -1),
         items = cltune_value(json_text_of(after, "shape"), "items", -1);
    char word[64];
    snprintf(word, sizeof word, "group=%ld ", group);
    contains(err, word);
    snprintf(word, sizeof word, "items=%ld ", items);
    contains(err, word);
    json_decref(first);
    json_decref(second);
}

static void cli_tune_dry_run_stores_nothing(void **unused)
{
    (void)unused;
    json_t *report = search_report(SEARCH " --dry-run");
    assert_true(json_is_null(json_object_get(report, "kept_in")));
    assert_int_equal(access(stored_entries(), F_OK), -1);
    json_decref(report);
}

static void cli_tune_reports_as_text(void **unused)
{
    (void)unused;
    expect_tune_status(0, "tune nbody.direct.single --size 300 --minutes 0.01 --seed 5");
    contains(out, "nbody.direct.single, size 300, on ");
    contains(out, "  before  ");
    contains(out, "interactions/s");
    contains(out, "  shape   ");
    contains(out, "wrong results");
    contains(out, stored_entries());
    expect_tune_status(0, "tune nbody.direct.single --size 300 --minutes 0.01 -q");
    assert_string_equal(out, "");
}

static void cli_tune_lists_entries(void **unused)
{
    (void)unused;
    expect_tune_status(0, "tune --list");
    contains(out, "nbody.direct.single, size 8192: the row of ");
    contains(out, "nbody.hermite.double, size ");
    contains(out, "group=");
    assert_int_equal(access(stored_entries(), F_OK), -1);
    expect_tune_status(0, "tune nbody.direct --size 77 --list --json");
    json_t *report = parsed(out), *row;
    size_t i;
    json_t *kernels = json_object_get(report, "kernels");
    assert_int_equal(json_array_size(kernels), 3); /* single, double, mixed */
    json_array_foreach(kernels, i, row)
    {
        assert_true(json_number_in(row, "size") == 77);
        contains(json_text_of(row, "source"), json_text_of(row, "kernel"));
        assert_true(json_object_size(json_object_get(row, "knobs")) > 3);
    }
    json_decref(report);
    expect_tune_status(0, "tune nbody.equal --size 77 --list"); /* which begins as the general sum
                                                       does where it has no row */
    contains(out, "the row of ");
    expect_tune_status(0, "tune '*.double' --size 77 --list");
    assert_null(strstr(out, "single"));
}

/* ---- Exporting. ---- */

/* Find the family of the device by the command's message about an unknown name. */
static void find_family(char family[32])
{
    expect_tune_refused("tune nbody --dry-run --export rows.json --as family:none", 2,
                        "no device would use rows of 'family:none' that were measured on ");
    assert_int_equal(sscanf(strstr(err, " or family:"), " or %31[a-z:]", family), 1);
    char elsewhere[128];
    snprintf(elsewhere, sizeof elsewhere, "tune nbody --dry-run --export rows.json --as %s",
             strcmp(family, "family:cpu") == 0 ? "family:gpu" : "family:cpu");
    expect_tune_refused(elsewhere, 2, "no device would use rows");
}

static void cli_tune_exports_shipped_format(void **unused)
{
    (void)unused;
    char family[32], text[1024], line[256];
    find_family(family);
    snprintf(
        text, sizeof text,
        "{\"format\": \"stdcl-tuning-1\", \"rows\": [\n"
        " {\"kernel\": \"other\", \"device\": \"family:gpu\", \"size\": 64, \"shape\": \"a=1\", \"note\": \"stays\"},\n"
        " {\"kernel\": \"nbody.direct.single\", \"device\": \"%s\", \"size\": 512, \"shape\": \"a=2\"}]}",
        family);
    put_text(in_folder("rows.json"), text);
    snprintf(line, sizeof line, SEARCH " --dry-run --export rows.json --as %s", family);
    json_t *report = search_report(line);
    json_t *file = json_from_tune_file("rows.json"), *rows = json_object_get(file, "rows");
    assert_string_equal(json_text_of(file, "format"), "stdcl-tuning-1");
    assert_int_equal(json_array_size(rows), 2);
    assert_string_equal(json_text_of(json_array_get(rows, 0), "note"), "stays");
    json_t *row = json_array_get(rows, 1); /* in place of that for the same power of two */
    assert_string_equal(json_text_of(row, "device"), family);
    assert_string_equal(json_text_of(row, "shape"),
                        json_text_of(search_result(report, 0), "shape"));
    assert_true(json_number_in(row, "size") == 500);
    assert_true(
        fabs(json_number_in(row, "rate") / json_number_in(search_result(report, 0), "rate") - 1) <
        1e-3);
    json_decref(report);
    json_decref(file);

    /* An export can be the user's file on another machine, as far as names agree. */
    report = search_report(SEARCH " --export new.json --dry-run");
    file = json_from_tune_file("new.json");
    row = json_array_get(json_object_get(file, "rows"), 0);
    assert_string_equal(json_text_of(row, "device"),
                        json_text_of(search_result(report, 0), "device"));
    json_decref(report);
    json_decref(file);
}

static void cli_tune_export_rejects_foreign_file(void **unused)
{
    (void)unused;
    put_text(in_folder("notes.txt"), "not mine");
    expect_tune_refused("tune nbody --export notes.txt", 2, "notes.txt exists");
    put_text(in_folder("other.json"), "{\"format\": \"other\", \"rows\": []}");
    expect_tune_refused("tune nbody --export other.json", 2, "other.json exists");
    assert_int_equal(mkfifo(in_folder("pipe.json"), 0600), 0); /* which has no rows to read */
    expect_tune_refused("tune nbody --export pipe.json --as family:none", 2,
                        "no device would use rows of 'family:none'");
    size_t size;
    char *text = bytes_of(in_folder("notes.txt"), &size);
    assert_string_equal(text, "not mine");
    free(text);
    expect_tune_refused("tune nbody --export no/such/folder.json", 1, "no/such");
    expect_tune_refused("tune nbody --as H200", 2, "--export");
}

/* ---- What is wrong is said before anything is searched. ---- */

static void cli_tune_rejects_bad_usage(void **unused)
{
    (void)unused;
    expect_tune_refused("tune nbdy", 2, "did you mean 'nbody'?");
    expect_tune_refused("tune nbody.direct.singel", 2, "did you mean 'nbody.direct.single'?");
    expect_tune_refused("tune zzzzzz", 2, ", nbody.direct.single, ");
    expect_tune_refused("tune nbody --size none", 2, "--size: 'none' is not a size");
    expect_tune_refused("tune --list --export x", 2, "--list and --export cannot be combined");
    expect_tune_refused("tune nbody --size 0", 2, "--size: '0' is not a size");
    expect_tune_refused("tune nbody --minutes 0", 2, "--minutes");
    expect_tune_refused("tune nbody --minutes -1", 2, "--minutes");
    expect_tune_refused("tune nbody --device nonesuch", 2, "nonesuch");
    expect_tune_refused("tune nbody --profile", 2, "--profile");
    expect_tune_refused("tune nbody --trace t.json", 2, "--trace");
    expect_tune_refused("nbody --profile=xml", 2, "'xml'");
    expect_tune_refused("nbody --trace -", 2, "--trace");
    expect_tune_refused("nbody -n 100 --steps 1 --trace no/such/folder.json", 1, "no/such");
}

static void cli_tune_rejects_unwritable_output(void **unused)
{
    (void)unused;
    setenv("XDG_CACHE_HOME", "/proc/nobody", 1);
    expect_tune_refused("tune nbody", 1, "/proc/nobody");
    char *home = strdup(getenv("HOME") ? getenv("HOME") : "");
    unsetenv("XDG_CACHE_HOME");
    unsetenv("HOME");
    expect_tune_refused(
        "tune nbody", 1,
        "XDG_CACHE_HOME"); /* at once: a search would outlast the test's time limit */
    setenv("HOME", home, 1);
    free(home);
}

static void cli_tune_warns_once_of_corrupt_store(void **unused)
{
    (void)unused;
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%.1000s/stdcl", getenv("XDG_CACHE_HOME"));
    assert_int_equal(mkdir(getenv("XDG_CACHE_HOME"), 0755) | mkdir(path, 0755), 0);
    put_text(stored_entries(), "{ spoilt");
    expect_tune_status(0, "nbody -n 500 --steps 2");
    contains(err, "stdcl nbody: warning: ");
    contains(err, stored_entries());
    assert_null(strstr(strstr(err, "warning") + 1, "warning"));
    expect_tune_status(0, "nbody -n 500 --steps 2 --explain");
    contains(err, "shipped");
    json_decref((expect_tune_status(0, SEARCH), parsed(out))); /* begins a new one */
    expect_tune_status(0, "nbody -n 500 --steps 2 -q");
    assert_string_equal(err, "");
}

/* ---- Ctrl-C. ---- */

/* Wait until the child has written to a file. */
static void wait_until_written(pid_t child, const char *path)
{
    struct stat is;
    siginfo_t ended = {0};
    while (stat(path, &is) != 0 || is.st_size == 0) {
        usleep(10000);
        assert_int_equal(waitid(P_PID, (id_t)child, &ended, WEXITED | WNOHANG | WNOWAIT), 0);
        assert_int_equal(ended.si_pid, 0);
    }
}

/* --explain writes when signals are handled and the first search begins. */
static void cli_tune_interrupted_keeps_best(void **unused)
{
    (void)unused;
    unlink(in_folder("err")); /* an older run's */
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        int to = open(in_folder("out"), O_WRONLY | O_CREAT | O_TRUNC, 0600);
        dup2(to, STDOUT_FILENO);
        dup2(open(in_folder("err"), O_WRONLY | O_CREAT | O_TRUNC, 0600), STDERR_FILENO);
        execl(command, "stdcl", "tune", "nbody.direct.single", "nbody.direct.double", "--size",
              "500", "--minutes", "30", "--json", "--explain", (char *)NULL);
        _exit(126);
    }
    wait_until_written(child, in_folder("err"));
    assert_int_equal(kill(child, SIGINT), 0);
    int status; /* half an hour would outlast the test's time limit */
    assert_int_equal(waitpid(child, &status, 0), child);
    read_what_was_said();
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 130);
    json_t *report = parsed(out);
    assert_true(json_is_true(json_object_get(report, "interrupted")));
    assert_int_equal(json_array_size(json_object_get(report, "results")),
                     1); /* the second was not begun */
    assert_true(json_number_in(search_result(report, 0), "rate") > 0);
    assert_int_equal(access(stored_entries(), F_OK), 0);
    json_decref(report);
}

/* ---- Profiles of other commands. ---- */

static void cli_profile_and_trace_record_run(void **unused)
{
    (void)unused;
    expect_tune_status(0, "nbody -n 1000 --steps 20 --profile=json --trace trace.json -q");
    json_t *profile = parsed(err), *trace = json_from_tune_file("trace.json"), *row;
    json_t *rows = json_object_get(json_array_get(json_object_get(profile, "devices"), 0), "rows");
    size_t i, launches = 0;
    json_array_foreach(rows, i, row) if (strncmp(json_text_of(row, "name"), "forces", 6) ==
                                         0) /* and forces_step */
    {
        launches += (size_t)json_number_in(row, "count");
        assert_true(json_number_in(row, "flops_per_s") > 0 &&
                    json_number_in(row, "peak_percent") > 0);
    }
    assert_true(launches >= 20);
    size_t spans = 0, steps = 0;
    json_array_foreach(json_object_get(trace, "traceEvents"), i, row)
    {
        spans += strncmp(json_text_of(row, "name"), "forces", 6) == 0;
        steps += strcmp(json_text_of(row, "name"), "steps") == 0;
    }
    assert_int_equal(spans, launches);
    assert_true(steps > 0);
    json_decref(profile);
    json_decref(trace);
    expect_tune_status(0, "nbody -n 1000 --steps 2 --profile -q");
    contains(err, "kernel or transfer");
    expect_tune_status(0, "nbody -n 1000 --steps 2 --profile=CSV -q");
    contains(err, "device,device_name,kind,name,count");
}

int main(int argc, char **argv)
{
    static char path[PATH_MAX];
    if (argc != 2 || !realpath(argv[1], path)) {
        fprintf(stderr, "usage: test_cli_tune PATH_OF_STDCL\n");
        return 1;
    }
    command = path;
    unsetenv("STDCL_PROFILE");
    unsetenv("STDCL_TRACE");
    keep_compiled_kernels();
#define TEST(name) cmocka_unit_test_setup(name, use_own_cache)
    struct CMUnitTest tests[] = {
        TEST(cli_tune_stores_and_uses_entry),
        TEST(cli_tune_dry_run_stores_nothing),
        TEST(cli_tune_reports_as_text),
        TEST(cli_tune_lists_entries),
        TEST(cli_tune_exports_shipped_format),
        TEST(cli_tune_export_rejects_foreign_file),
        TEST(cli_tune_rejects_bad_usage),
        TEST(cli_tune_rejects_unwritable_output),
        TEST(cli_tune_warns_once_of_corrupt_store),
        TEST(cli_tune_interrupted_keeps_best),
        TEST(cli_profile_and_trace_record_run),
    };
    const int status = sampled_run("tune", tests, 0, 2, files_create, files_remove);
    free(out);
    free(err);
    return status;
}
