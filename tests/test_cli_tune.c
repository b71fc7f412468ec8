/* `stdcl tune`, and --profile, --trace and --explain of other commands, run as a person runs them.
 *
 *   test_cli_tune PATH_OF_STDCL
 *
 * Searches are short: what they find matters less than that it is kept, used and told.
 * SPDX-License-Identifier: MIT
 */
#include "files.h"
#include "deep.h"

#include <jansson.h>
#include <math.h>
#include <signal.h>
#include <sys/wait.h>

static const char *command; /* the path of stdcl */
static char *out, *err;     /* what the last run said */

/* Compiled kernels stay where they are cached otherwise, though XDG_CACHE_HOME changes. */
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

/* Every test has a cache of its own. */
static int own_cache(void **unused)
{
    static int number;
    char name[32];
    (void)unused;
    snprintf(name, sizeof name, "cache%d", number++);
    setenv("XDG_CACHE_HOME", in_folder(name), 1);
    return 0;
}

static const char *store(void)
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

/* Runs `stdcl ARGUMENTS` in the folder, through the shell. */
static int run(const char *arguments)
{
    char line[3 * PATH_MAX];
    snprintf(line, sizeof line, "cd '%.1000s' && exec '%.1000s' %s >out 2>err </dev/null",
             files_folder, command, arguments);
    int status = system(line);
    read_what_was_said();
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

static void expect(int right, const char *arguments)
{
    int status = run(arguments);
    if (status != right)
        fail_msg("stdcl %s ends with %d\n%s%s", arguments, status, out, err);
}

/* Wrong usage: one line that says what, and nothing else. */
static void refuses(const char *arguments, int status, const char *part)
{
    expect(status, arguments);
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

static json_t *from_file(const char *name)
{
    size_t size;
    char *text = bytes_of(in_folder(name), &size);
    ready(text);
    json_t *root = parsed(text);
    free(text);
    return root;
}

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    if (!text)
        fail_msg("no text \"%s\"", key);
    return text;
}

static double number_of(const json_t *object, const char *key)
{
    if (!json_is_number(json_object_get(object, key)))
        fail_msg("no number \"%s\"", key);
    return json_number_value(json_object_get(object, key));
}

/* A search of 0.6 seconds or a candidate more, as JSON; the caller releases it. */
#define SEARCH "tune nbody.direct.single --size 500 --minutes 0.01 --json"

static json_t *search(const char *arguments)
{
    expect(0, arguments);
    assert_string_equal(err, ""); /* no terminal: no progress */
    return parsed(out);
}

static json_t *result(const json_t *report, size_t i)
{
    json_t *r = json_array_get(json_object_get(report, "results"), i);
    ready(r);
    return r;
}

/* ---- Searching. ---- */

static void keeps_and_uses_what_it_finds(void **unused)
{
    (void)unused;
    json_t *first = search(SEARCH), *r = result(first, 0);
    assert_string_equal(text_of(first, "program"), "tune");
    assert_string_equal(text_of(r, "kernel"), "nbody.direct.single");
    assert_string_equal(text_of(r, "unit"), "interactions/s");
    assert_true(number_of(r, "size") == 500 && number_of(r, "rate") > 1e6);
    assert_true(number_of(r, "rate") >= number_of(r, "rate_before"));
    assert_true(number_of(r, "shapes_run") >= 1 && number_of(r, "seconds") > 0);
    assert_string_equal(text_of(first, "kept_in"), store());
    assert_true(json_is_false(json_object_get(first, "interrupted")));

    json_t *second = search(SEARCH), *after = result(second, 0); /* goes on from there */
    assert_string_equal(text_of(after, "shape_before"), text_of(r, "shape"));
    contains(text_of(after, "source_before"), "measured on this device and driver");
    expect(0, "nbody -n 500 --steps 3 --precision single --explain -q");
    contains(err, "nbody.direct.single, size 500: the row of ");
    contains(err, "measured on this device and driver");
    long group = cltune_value(text_of(after, "shape"), "group", -1),
         items = cltune_value(text_of(after, "shape"), "items", -1);
    char word[64];
    snprintf(word, sizeof word, "group=%ld ", group);
    contains(err, word);
    snprintf(word, sizeof word, "items=%ld ", items);
    contains(err, word);
    json_decref(first);
    json_decref(second);
}

static void dry_runs_keep_nothing(void **unused)
{
    (void)unused;
    json_t *report = search(SEARCH " --dry-run");
    assert_true(json_is_null(json_object_get(report, "kept_in")));
    assert_int_equal(access(store(), F_OK), -1);
    json_decref(report);
}

static void reports_as_text(void **unused)
{
    (void)unused;
    expect(0, "tune nbody.direct.single --size 300 --minutes 0.01 --seed 5");
    contains(out, "nbody.direct.single, size 300, on ");
    contains(out, "  before  ");
    contains(out, "interactions/s");
    contains(out, "  shape   ");
    contains(out, "wrong answers");
    contains(out, store());
    expect(0, "tune nbody.direct.single --size 300 --minutes 0.01 -q");
    assert_string_equal(out, "");
}

static void lists(void **unused)
{
    (void)unused;
    expect(0, "tune --list");
    contains(out, "nbody.direct.single, size 8192: the row of ");
    contains(out, "nbody.hermite.double, size ");
    contains(out, "group=");
    assert_int_equal(access(store(), F_OK), -1);
    expect(0, "tune nbody.direct --size 77 --list --json");
    json_t *report = parsed(out), *row;
    size_t i;
    json_t *kernels = json_object_get(report, "kernels");
    assert_int_equal(json_array_size(kernels), 3); /* single, double, mixed */
    json_array_foreach(kernels, i, row)
    {
        assert_true(number_of(row, "size") == 77);
        contains(text_of(row, "source"), text_of(row, "kernel"));
        assert_true(json_object_size(json_object_get(row, "knobs")) > 3);
    }
    json_decref(report);
    expect(0, "tune nbody.equal --size 77 --list"); /* which begins as the general sum does where it
                                                       has no row */
    contains(out, "the row of ");
    expect(0, "tune '*.double' --size 77 --list");
    assert_null(strstr(out, "single"));
}

/* ---- Exporting. ---- */

/* The family of any device of its kind, by what the command says of a name that is none. */
static void find_family(char family[32])
{
    refuses("tune nbody --dry-run --export rows.json --as family:none", 2,
            "no device would use rows of 'family:none' that were measured on ");
    assert_int_equal(sscanf(strstr(err, " or family:"), " or %31[a-z:]", family), 1);
    char elsewhere[128];
    snprintf(elsewhere, sizeof elsewhere, "tune nbody --dry-run --export rows.json --as %s",
             strcmp(family, "family:cpu") == 0 ? "family:gpu" : "family:cpu");
    refuses(elsewhere, 2, "no device would use rows");
}

static void exports_rows_as_they_are_shipped(void **unused)
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
    json_t *report = search(line);
    json_t *file = from_file("rows.json"), *rows = json_object_get(file, "rows");
    assert_string_equal(text_of(file, "format"), "stdcl-tuning-1");
    assert_int_equal(json_array_size(rows), 2);
    assert_string_equal(text_of(json_array_get(rows, 0), "note"), "stays");
    json_t *row = json_array_get(rows, 1); /* in place of that for the same power of two */
    assert_string_equal(text_of(row, "device"), family);
    assert_string_equal(text_of(row, "shape"), text_of(result(report, 0), "shape"));
    assert_true(number_of(row, "size") == 500);
    assert_true(fabs(number_of(row, "rate") / number_of(result(report, 0), "rate") - 1) < 1e-3);
    json_decref(report);
    json_decref(file);

    /* What is exported can be the user's file of somebody else's machine, as far as names agree. */
    report = search(SEARCH " --export new.json --dry-run");
    file = from_file("new.json");
    row = json_array_get(json_object_get(file, "rows"), 0);
    assert_string_equal(text_of(row, "device"), text_of(result(report, 0), "device"));
    json_decref(report);
    json_decref(file);
}

static void exports_into_no_other_file(void **unused)
{
    (void)unused;
    put_text(in_folder("notes.txt"), "not mine");
    refuses("tune nbody --export notes.txt", 2, "notes.txt exists");
    put_text(in_folder("other.json"), "{\"format\": \"other\", \"rows\": []}");
    refuses("tune nbody --export other.json", 2, "other.json exists");
    assert_int_equal(mkfifo(in_folder("pipe.json"), 0600), 0); /* which has no rows to read */
    refuses("tune nbody --export pipe.json --as family:none", 2,
            "no device would use rows of 'family:none'");
    size_t size;
    char *text = bytes_of(in_folder("notes.txt"), &size);
    assert_string_equal(text, "not mine");
    free(text);
    refuses("tune nbody --export no/such/folder.json", 1, "no/such");
    refuses("tune nbody --as H200", 2, "--export");
}

/* ---- What is wrong is said before anything is searched. ---- */

static void refuses_wrong_usage(void **unused)
{
    (void)unused;
    refuses("tune nbdy", 2, "did you mean 'nbody'?");
    refuses("tune nbody.direct.singel", 2, "did you mean 'nbody.direct.single'?");
    refuses("tune zzzzzz", 2, ", nbody.direct.single, ");
    refuses("tune nbody --size none", 2, "--size: 'none' is not a size");
    refuses("tune --list --export x", 2, "--list searches nothing");
    refuses("tune nbody --size 0", 2, "--size: '0' is not a size");
    refuses("tune nbody --minutes 0", 2, "--minutes");
    refuses("tune nbody --minutes -1", 2, "--minutes");
    refuses("tune nbody --device nonesuch", 2, "nonesuch");
    refuses("tune nbody --profile", 2, "--profile");
    refuses("tune nbody --trace t.json", 2, "--trace");
    refuses("nbody --profile=xml", 2, "'xml'");
    refuses("nbody --trace -", 2, "--trace");
    refuses("nbody -n 100 --steps 1 --trace no/such/folder.json", 1, "no/such");
}

static void refuses_places_it_cannot_write(void **unused)
{
    (void)unused;
    setenv("XDG_CACHE_HOME", "/proc/nobody", 1);
    refuses("tune nbody", 1, "/proc/nobody");
    char *home = strdup(getenv("HOME") ? getenv("HOME") : "");
    unsetenv("XDG_CACHE_HOME");
    unsetenv("HOME");
    refuses("tune nbody", 1,
            "XDG_CACHE_HOME"); /* at once: a search would outlast the test's time limit */
    setenv("HOME", home, 1);
    free(home);
}

static void warns_once_of_a_spoilt_store(void **unused)
{
    (void)unused;
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%.1000s/stdcl", getenv("XDG_CACHE_HOME"));
    assert_int_equal(mkdir(getenv("XDG_CACHE_HOME"), 0755) | mkdir(path, 0755), 0);
    put_text(store(), "{ spoilt");
    expect(0, "nbody -n 500 --steps 2");
    contains(err, "stdcl nbody: warning: ");
    contains(err, store());
    assert_null(strstr(strstr(err, "warning") + 1, "warning"));
    expect(0, "nbody -n 500 --steps 2 --explain");
    contains(err, "shipped");
    json_decref((expect(0, SEARCH), parsed(out))); /* begins a new one */
    expect(0, "nbody -n 500 --steps 2 -q");
    assert_string_equal(err, "");
}

/* ---- Ctrl-C. ---- */

/* However little of the machine it gets: its processor time counts. */
static void wait_until_it_worked(pid_t child, time_t seconds)
{
    clockid_t its;
    struct timespec worked = {0};
    assert_int_equal(clock_getcpuclockid(child, &its), 0);
    while (worked.tv_sec < seconds) {
        usleep(10000);
        assert_int_equal(clock_gettime(its, &worked), 0); /* it has not ended */
    }
}

static void keeps_the_best_so_far(void **unused)
{
    (void)unused;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        int to = open(in_folder("out"), O_WRONLY | O_CREAT | O_TRUNC, 0600);
        dup2(to, STDOUT_FILENO);
        dup2(open(in_folder("err"), O_WRONLY | O_CREAT | O_TRUNC, 0600), STDERR_FILENO);
        execl(command, "stdcl", "tune", "nbody.direct.single", "nbody.direct.double", "--size",
              "500", "--minutes", "30", "--json", (char *)NULL);
        _exit(126);
    }
    wait_until_it_worked(child, 2);
    assert_int_equal(kill(child, SIGINT), 0);
    int status; /* half an hour would outlast the test's time limit */
    assert_int_equal(waitpid(child, &status, 0), child);
    read_what_was_said();
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 130);
    json_t *report = parsed(out);
    assert_true(json_is_true(json_object_get(report, "interrupted")));
    assert_int_equal(json_array_size(json_object_get(report, "results")),
                     1); /* the second was not begun */
    assert_true(number_of(result(report, 0), "rate") > 0);
    assert_int_equal(access(store(), F_OK), 0);
    json_decref(report);
}

/* ---- Profiles of other commands. ---- */

static void profiles_a_run(void **unused)
{
    (void)unused;
    expect(0, "nbody -n 1000 --steps 20 --profile=json --trace trace.json -q");
    json_t *profile = parsed(err), *trace = from_file("trace.json"), *row;
    json_t *rows = json_object_get(json_array_get(json_object_get(profile, "devices"), 0), "rows");
    size_t i, launches = 0;
    json_array_foreach(rows, i, row) if (strncmp(text_of(row, "name"), "forces", 6) ==
                                         0) /* and forces_step */
    {
        launches += (size_t)number_of(row, "count");
        assert_true(number_of(row, "flops_per_s") > 0 && number_of(row, "peak_percent") > 0);
    }
    assert_true(launches >= 20);
    size_t spans = 0, steps = 0;
    json_array_foreach(json_object_get(trace, "traceEvents"), i, row)
    {
        spans += strncmp(text_of(row, "name"), "forces", 6) == 0;
        steps += strcmp(text_of(row, "name"), "steps") == 0;
    }
    assert_int_equal(spans, launches);
    assert_true(steps > 0);
    json_decref(profile);
    json_decref(trace);
    expect(0, "nbody -n 1000 --steps 2 --profile -q");
    contains(err, "kernel or transfer");
    expect(0, "nbody -n 1000 --steps 2 --profile=CSV -q");
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
#define TEST(name) cmocka_unit_test_setup(name, own_cache)
    struct CMUnitTest tests[] = {
        TEST(keeps_and_uses_what_it_finds),
        TEST(dry_runs_keep_nothing),
        TEST(reports_as_text),
        TEST(lists),
        TEST(exports_rows_as_they_are_shipped),
        TEST(exports_into_no_other_file),
        TEST(refuses_wrong_usage),
        TEST(refuses_places_it_cannot_write),
        TEST(warns_once_of_a_spoilt_store),
        TEST(keeps_the_best_so_far),
        TEST(profiles_a_run),
    };
    const int status = sampled_run("tune", tests, 0, 2, files_create, files_remove);
    free(out);
    free(err);
    return status;
}
