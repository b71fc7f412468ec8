/* test_profile_timeline.c - the trace file, phases of the host, overlap, bounded memory.
 *
 * Trace files are read back with jansson. The overlap of devices is compared with a count over
 * every nanosecond of artificial timelines.
 * SPDX-License-Identifier: MIT
 */
#include "profile/profile.h" /* before cmocka, which has a `fail` of its own */

#include "files.h"
#include "leak_count.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <pthread.h>
#include <sys/resource.h>

enum { N = 4096 };

static CLCONTEXT *cp;
static void *basic;

static int open_timeline_context(void **unused)
{
    (void)unused;
    cp = clcontext_create(NULL, (int)CL_DEVICE_TYPE_ALL, 0, NULL, 0);
    basic = clopen(cp, BASIC_CL, CLLD_NOW);
    return setup_done(basic && clprofile(cp, CLPROF_EVERY) == 0);
}

static int close_timeline_context(void **unused)
{
    (void)unused;
    return clcontext_destroy(cp);
}

static cl_kernel timeline_kernel(const char *name)
{
    cl_kernel k = clsym(cp, basic, name, 0);
    ready(k);
    return k;
}

/* ---- Reading a trace. ---- */

/* A complete event ("ph": "X"), us. */
struct event {
    char kind[16], name[64];
    double start, end;
    long pid, tid;
};

enum { MAX_EVENTS = 1000 };
static struct event event[MAX_EVENTS];
static size_t events;
static json_t *trace; /* valid until the next is read */

static double timeline_number(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    if (!json_is_number(value))
        fail_msg("no number \"%s\"", key);
    return json_number_value(value);
}

static void read_event(const json_t *e)
{
    struct event *x = &event[events++];
    assert_true(events <= MAX_EVENTS);
    snprintf(x->kind, sizeof x->kind, "%s", json_string_value(json_object_get(e, "cat")));
    snprintf(x->name, sizeof x->name, "%s", json_string_value(json_object_get(e, "name")));
    x->start = timeline_number(e, "ts");
    x->end = x->start + timeline_number(e, "dur");
    x->pid = (long)timeline_number(e, "pid");
    x->tid = (long)timeline_number(e, "tid");
    assert_true(0 <= x->start && x->start <= x->end);
}

static void read_trace(void)
{
    const char *file = in_folder("trace.json");
    json_error_t error;
    json_t *e;
    size_t i;
    works(clprofile_trace(cp, file));
    json_decref(trace);
    trace = json_load_file(file, JSON_REJECT_DUPLICATES, &error);
    if (!trace)
        fail_msg("line %d: %s", error.line, error.text);
    events = 0;
    json_array_foreach(json_object_get(trace, "traceEvents"), i, e)
    {
        const char *phase = json_string_value(json_object_get(e, "ph"));
        ready(phase);
        if (strcmp(phase, "X") == 0)
            read_event(e);
        else
            assert_string_equal(phase, "M");
    }
}

static const struct event *find_event(const char *kind, const char *name, size_t which)
{
    for (size_t i = 0; i < events; i++)
        if (strcmp(event[i].kind, kind) == 0 && strcmp(event[i].name, name) == 0 && which-- == 0)
            return &event[i];
    fail_msg("no %s %s", kind, name);
    return NULL;
}

static size_t count_of(const char *kind, const char *name)
{
    size_t n = 0;
    for (size_t i = 0; i < events; i++)
        n += strcmp(event[i].kind, kind) == 0 && strcmp(event[i].name, name) == 0;
    return n;
}

/* Return the label of a process (tid -1) or thread. */
static const char *timeline_label(long pid, long tid)
{
    json_t *e;
    size_t i;
    json_array_foreach(json_object_get(trace, "traceEvents"), i, e)
    {
        const char *name = json_string_value(json_object_get(e, "name"));
        if (strcmp(json_string_value(json_object_get(e, "ph")), "M") != 0 ||
            (long)timeline_number(e, "pid") != pid)
            continue;
        if (tid < 0 ? strcmp(name, "process_name") == 0
                    : strcmp(name, "thread_name") == 0 && (long)timeline_number(e, "tid") == tid)
            return json_string_value(json_object_get(json_object_get(e, "args"), "name"));
    }
    return "";
}

/* ---- Traces of real work. ---- */

static void timeline_has_all_tracks(void **unused)
{
    (void)unused;
    struct cldev_info info[16];
    clndrange_t ndr = clndrange_init1d(0, N, 0);
    int *x = clmalloc(cp, N * sizeof *x, 0);
    assert_in_range(clgetndev(cp), 1, 16);
    works(clgetdevinfo(cp, info));
    for (cl_uint dev = 0; dev < clgetndev(cp); dev++) {
        started(clmsync(cp, dev, x, CL_MEM_DEVICE | CL_EVENT_NOWAIT));
        for (int i = 0; i < 5; i++)
            started(clforka(cp, dev, timeline_kernel("add"), &ndr, CL_EVENT_NOWAIT, x, 1));
        started(clmsync(cp, dev, x, CL_MEM_HOST | CL_EVENT_NOWAIT));
    }
    read_trace();
    assert_int_equal(events, 7 * clgetndev(cp));
    assert_string_equal(timeline_label(0, -1), "host");
    for (cl_uint dev = 0; dev < clgetndev(cp); dev++) {
        assert_string_equal(timeline_label(1 + (long)dev, -1), info[dev].dev_name);
        assert_string_equal(timeline_label(1 + (long)dev, 0), "kernels");
        assert_string_equal(timeline_label(1 + (long)dev, 1), "transfers");
        const struct event *in = find_event("transfer", "host to device", dev),
                           *out = find_event("transfer", "device to host", dev);
        assert_int_equal(in->pid, 1 + dev);
        assert_int_equal(in->tid, 1);
        assert_int_equal(out->tid, 1);
        double end = in->end;
        for (size_t i = 0; i < 5; i++) { /* a queue runs in order */
            const struct event *add = find_event("kernel", "add", 5 * dev + i);
            assert_int_equal(add->pid, 1 + dev);
            assert_int_equal(add->tid, 0);
            assert_true(add->start >= end);
            end = add->end;
        }
        assert_true(out->start >= end);
    }
    works(clfree(x));
}

static bool inside_span(const struct event *inner, const struct event *outer)
{
    return outer->pid == inner->pid && outer->tid == inner->tid && outer->start <= inner->start &&
           inner->end <= outer->end;
}

/* The kernel lies in the phase of its launch and wait: the clocks agree. A phase is longer than its
 * kernel by the current delays of this machine. */
static void timeline_aligns_clocks(void **unused)
{
    (void)unused;
    clndrange_t one = clndrange_init1d(0, 1, 1);
    cl_uint *x = clmalloc(cp, sizeof *x, 0);
    for (cl_uint dev = 0; dev < clgetndev(cp); dev++) {
        done(clforka(cp, dev, timeline_kernel("slow"), &one, CL_EVENT_WAIT, x, 1)); /* built */
        clprofile_reset(cp);
        for (int i = 0; i < 3; i++) {
            clprofile_begin(cp, "wait");
            done(clforka(cp, dev, timeline_kernel("slow"), &one, CL_EVENT_WAIT, x, 2000000));
            clprofile_end(cp);
            nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
        }
        read_trace();
        double tolerance = 500; /* us */
        for (size_t i = 0; i < 3; i++) {
            const struct event *k = find_event("kernel", "slow", i),
                               *phase = find_event("host", "wait", i);
            tolerance = fmax(tolerance, 2 * (phase->end - phase->start - (k->end - k->start)));
        }
        for (size_t i = 0; i < 3; i++) {
            const struct event *k = find_event("kernel", "slow", i),
                               *phase = find_event("host", "wait", i);
            if (k->start < phase->start - tolerance || k->end > phase->end + tolerance)
                fail_msg("kernel %g .. %g us, phase %g .. %g us", k->start, k->end, phase->start,
                         phase->end);
        }
    }
    works(clfree(x));
}

static void *phases_of_a_thread(void *unused)
{
    (void)unused;
    for (int i = 0; i < 50; i++) {
        clprofile_begin(cp, "outer");
        clprofile_begin(cp, "inner");
        clprofile_end(cp);
        clprofile_begin(cp, "second");
        clprofile_begin(cp, "innermost");
        clprofile_end(cp);
        clprofile_end(cp);
        clprofile_end(cp);
    }
    return NULL;
}

static void timeline_nests_phases_of_threads(void **unused)
{
    (void)unused;
    pthread_t thread[3];
    bool tracks[16] = {false};
    for (int i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, phases_of_a_thread, NULL), 0);
    phases_of_a_thread(NULL);
    for (int i = 0; i < 3; i++)
        assert_int_equal(pthread_join(thread[i], NULL), 0);
    read_trace();
    assert_int_equal(events, 4 * 50 * 4);
    for (size_t i = 0; i < 4 * 50; i++) {
        const struct event *outer = find_event("host", "outer", i), *others[3];
        static const char *const names[] = {"inner", "second", "innermost"};
        for (size_t k = 0, n; k < 3; k++) {
            others[k] = NULL;
            for (n = 0; n < 200 && !(others[k] && inside_span(others[k], outer)); n++)
                others[k] = find_event("host", names[k], n);
            assert_true(inside_span(others[k], outer));
        }
        assert_true(inside_span(others[2], others[1]));
        assert_true(others[0]->end <= others[1]->start);
        assert_in_range(outer->tid, 0, 15);
        tracks[outer->tid] = true;
        assert_true(*timeline_label(0, outer->tid));
    }
    int used = 0;
    for (int i = 0; i < 16; i++)
        used += tracks[i];
    assert_int_equal(used, 4); /* a track a thread */
}

/* Errors in the program's phases leave the remainder correct. */
static void timeline_survives_unbalanced_phases(void **unused)
{
    (void)unused;
    clprofile_end(cp);
    clprofile_end(NULL);
    clprofile_begin(NULL, "of no context");
    clprofile_begin(cp, NULL);
    clprofile_end(cp);
    clprofile_end(cp);
    for (int i = 0; i < 40; i++) /* deeper than is kept */
        clprofile_begin(cp, "deep");
    for (int i = 0; i < 40; i++)
        clprofile_end(cp);
    clprofile_begin(cp, "kept");
    works(clprofile(cp, 0));
    clprofile_begin(cp, "while off");
    works(clprofile(cp, CLPROF_EVERY));
    clprofile_end(cp);
    clprofile_end(cp);
    read_trace();
    assert_int_equal(count_of("host", "deep"), 16);
    assert_int_equal(count_of("host", "kept"), 1);
    assert_int_equal(events, 17);

    CLCONTEXT *brief = clcontext_create(NULL, (int)CL_DEVICE_TYPE_ALL, 1, NULL, 0);
    works(clprofile(brief, CLPROF_EVERY));
    clprofile_begin(brief, "outlives its context");
    works(clcontext_destroy(brief));
    clprofile_end(brief);
    clprofile_end(cp);
    read_trace();
    assert_int_equal(events, 17);
}

static void timeline_keeps_odd_names(void **unused)
{
    (void)unused;
    static const char *const names[] = {"quote \" and \\ slash", "two\nlines\tand \x01",
                                        "größer als π", ""};
    for (size_t i = 0; i < 4; i++) {
        clprofile_begin(cp, names[i]);
        clprofile_end(cp);
    }
    clprofile_begin(cp, "no UTF-8: \xff\xc3");
    clprofile_end(cp);
    read_trace();
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(count_of("host", names[i]), 1);
    assert_int_equal(count_of("host", "no UTF-8: ??"), 1);
}

static void timeline_writes_whole_file_or_none(void **unused)
{
    (void)unused;
    const char *folder = in_folder("folder");
    DIR *dir;
    assert_int_equal(mkdir(folder, 0755), 0);
    fails(ENOENT, clprofile_trace(cp, in_folder("nowhere/trace.json")));
    contains((clprofile_trace(cp, in_folder("nowhere/trace.json")), clerror()),
             "nowhere' does not exist");
    fails(EISDIR, clprofile_trace(cp, folder));
    fails(EINVAL, clprofile_trace(cp, NULL));
    fails(EINVAL, clprofile_trace(NULL, "trace.json"));
    fails(ENOSPC, clprofile_trace(
                      cp, "/dev/full")); /* not replaced by a file, even if that could be done */
    works(clprofile_trace(cp, "/dev/null"));
    struct stat status;
    assert_true(stat("/dev/null", &status) == 0 && S_ISCHR(status.st_mode));
    put_text(in_folder("trace.json"), "old");
    read_trace(); /* replaced */
    ready(dir = opendir(files_folder));
    for (struct dirent *e; (e = readdir(dir));)
        assert_null(strstr(e->d_name, ".tmp"));
    closedir(dir);
}

/* ---- Overlap. ---- */

static double overlap_and_busy(double *busy)
{
    char *text = NULL;
    size_t size;
    FILE *fp = open_memstream(&text, &size);
    works(clprofile_report(cp, fp, CLPROF_JSON));
    fclose(fp);
    json_t *root = json_loads(text, 0, NULL);
    double overlap = timeline_number(root, "overlap_s");
    *busy = timeline_number(root, "busy_s");
    json_decref(root);
    free(text);
    return overlap;
}

/* Number of digits from the first one that is not 0. */
static size_t significant_digits(const char *number)
{
    size_t n = 0;
    for (; *number && *number != 'e'; number++)
        n += *number >= '0' && *number <= '9' && (n > 0 || *number != '0');
    return n;
}

/* The table gives the overlap, in milliseconds, with three digits. */
static void check_overlap_in_table(void)
{
    char *text = NULL, overlap[32], busy[32];
    size_t size;
    FILE *fp = open_memstream(&text, &size);
    works(clprofile_report(cp, fp, CLPROF_TABLE));
    fclose(fp);
    const char *line = strstr(text, "ran at once for ");
    assert_non_null(line);
    assert_int_equal(sscanf(line, "ran at once for %31s ms of the %31s ms", overlap, busy), 2);
    assert_true(significant_digits(overlap) <= 3 || strtod(overlap, NULL) >= 1000);
    assert_true(significant_digits(busy) <= 3 || strtod(busy, NULL) >= 1000);
    free(text);
}

static void timeline_reports_device_overlap(void **unused)
{
    (void)unused;
    struct cldev_info info[64];
    if (clgetndev(cp) < 2 || clgetndev(cp) > 64 || clgetdevinfo(cp, info) != 0 ||
        strcmp(info[0].dev_name, info[1].dev_name) != 0)
        return; /* the same program runs on two equal devices as well */
    clndrange_t one = clndrange_init1d(0, 1, 1);
    cl_uint *x[2];
    double busy, overlap;
    for (cl_uint dev = 0; dev < 2; dev++) {
        x[dev] = clmalloc(cp, sizeof **x, 0);
        done(clforka(cp, dev, timeline_kernel("slow"), &one, CL_EVENT_WAIT, x[dev], 1));
    }
    works(clprofile_reset(cp));
    for (cl_uint dev = 0; dev < 2; dev++) /* sequential */
        done(clforka(cp, dev, timeline_kernel("slow"), &one, CL_EVENT_WAIT, x[dev], 10000000));
    overlap = overlap_and_busy(&busy);
    if (overlap > 0.2 * busy)
        fail_msg("%g s of %g s overlap, though one waits for the other", overlap, busy);
    double most = 0; /* others on the machine can only hold one of the two back, so the largest
                        share of some counts */
    for (int round = 0; round < 20 && most < 0.3; round++) {
        works(clprofile_reset(cp));
        for (cl_uint dev = 0; dev < 2; dev++) {
            started(clforka(cp, dev, timeline_kernel("slow"), &one, CL_EVENT_NOWAIT, x[dev],
                            100000000));
            works(clflush(cp, dev, 0));
        }
        overlap = overlap_and_busy(&busy);
        check_overlap_in_table();
        most = fmax(most, overlap / busy);
    }
    if (most < 0.3)
        fail_msg("only %g of the busy time overlap", most);
    works(clfree(x[0]));
    works(clfree(x[1]));
}

/* Random kernels of three devices, against a count over every nanosecond. */
static void timeline_overlap_matches_count(void **unused)
{
    (void)unused;
    enum { LENGTH = 2000 };
    uint64_t random = 12345;
    for (int round = 0; round < 200; round++) {
        static bool busy[3][LENGTH];
        uint64_t one, two, right_one = 0, right_two = 0;
        struct timeline *t = timeline_new(3);
        ready(t);
        memset(busy, 0, sizeof busy);
        for (int i = 0; i < round % 40; i++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            uint32_t dev = (uint32_t)(random >> 60) % 3;
            uint64_t start = (random >> 33) % 1900, length = (random >> 20) % 100;
            for (uint64_t k = start; k < start + length; k++)
                busy[dev][k] = true;
            timeline_add(&t->commands, MAX_SPANS, (struct span){start, start + length, 0, 2 * dev});
            timeline_add(&t->commands, MAX_SPANS,
                         (struct span){0, LENGTH, 0, 2 * dev + 1}); /* no kernel */
        }
        for (int k = 0; k < LENGTH; k++) {
            int devices = busy[0][k] + busy[1][k] + busy[2][k];
            right_one += devices >= 1;
            right_two += devices >= 2;
        }
        timeline_busy(t, &one, &two);
        assert_int_equal(one, right_one);
        assert_int_equal(two, right_two);
        timeline_free(t);
    }
}

/* ---- Bounds. ---- */

static void timeline_keeps_limited_spans(void **unused)
{
    (void)unused;
    struct timeline *t = timeline_new(1);
    ready(t);
    for (uint64_t i = 0; i < MAX_SPANS + 1000; i++)
        timeline_add(&t->commands, MAX_SPANS, (struct span){i, i + 1, 0, 0});
    assert_int_equal(t->commands.count, MAX_SPANS);
    assert_int_equal(t->commands.beyond, 1000);
    assert_int_equal(t->commands.item[MAX_SPANS - 1].start, MAX_SPANS - 1);
    char name[32];
    for (int again = 0; again < 2; again++)
        for (int i = 0; i < 10000; i++) {
            snprintf(name, sizeof name, "phase %d", i);
            uint32_t number_of_name = 0;
            assert_true(timeline_name(t, name, &number_of_name));
            assert_string_equal(t->name[number_of_name], i < MAX_NAMES - 1 ? name : "others");
        }
    assert_int_equal(t->names, MAX_NAMES);
    timeline_shrink(t);
    assert_int_equal(t->commands.item[MAX_SPANS - 1].start, MAX_SPANS - 1);
    assert_string_equal(t->name[1], "phase 0");
    timeline_free(t);
}

/* Return the peak memory of the process. */
static long resident(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return 1024 * usage.ru_maxrss;
}

static long timeline_size_of(const char *file)
{
    struct stat st;
    assert_int_equal(stat(file, &st), 0);
    return (long)st.st_size;
}

/* Count complete events of a file too long to parse. */
static size_t lines_with(const char *file, const char *part)
{
    char text[4096];
    size_t n = 0;
    FILE *fp = fopen(file, "r");
    ready(fp);
    while (fgets(text, sizeof text, fp))
        n += strstr(text, part) != NULL;
    fclose(fp);
    return n;
}

/* More launches and phases than a timeline keeps: the remainder is counted and takes no memory.
 * The file is streamed, since a JSON tree would take several times its size. */
static void timeline_reports_dropped_spans(void **unused)
{
    (void)unused;
    enum { LAUNCHES = MAX_SPANS + 20000, EVERY = 3, PHASES = (LAUNCHES + EVERY - 1) / EVERY };
    clndrange_t one = clndrange_init1d(0, 1, 1);
    cl_kernel nothing = timeline_kernel("nothing");
    long full = 0, most = 0;
    for (int n = 0; n < LAUNCHES; n++) {
        started(clfork(cp, 0, nothing, &one, CL_EVENT_NOWAIT));
        if (n % EVERY == 0) {
            clprofile_begin(cp, n % 1024 ? "some" : "others");
            clprofile_end(cp);
        }
        if (n % 1000 == 0)
            done(clwait(cp, 0, CL_ALL_EVENT));
        full = n == MAX_SPANS + 1000 ? leak_count_bytes() : full;
        most = n > MAX_SPANS + 1000 && leak_count_bytes() > most ? leak_count_bytes() : most;
    }
    done(clwait(cp, 0, CL_ALL_EVENT));
    assert_true(most <= full + 128 * 1024); /* for the list of launches not waited for */

    struct clprofile_row row[4];
    assert_int_equal(clprofile_rows(cp, row, 4), 1);
    assert_int_equal(row[0].count, LAUNCHES);
    const long before = resident();
    works(clprofile_trace(cp, in_folder("long.json")));
    if (!SANITIZED)
        assert_true(resident() - before < timeline_size_of(in_folder("long.json")) / 2);
    assert_int_equal(lines_with(in_folder("long.json"), "\"cat\":\"kernel\""), MAX_SPANS);
    assert_int_equal(lines_with(in_folder("long.json"), "\"cat\":\"host\""), MAX_PHASES);
    char beyond[64];
    snprintf(beyond, sizeof beyond, "\"spans_not_kept\":%d}",
             LAUNCHES - MAX_SPANS + PHASES - MAX_PHASES);
    assert_int_equal(lines_with(in_folder("long.json"), beyond), 1);
}

int main(void)
{
    unsetenv("STDCL_PROFILE");
    unsetenv("STDCL_TRACE");
#define PROFILED(test)                                                                             \
    cmocka_unit_test_setup_teardown(test, open_timeline_context, close_timeline_context)
    const struct CMUnitTest tests[] = {
        PROFILED(timeline_has_all_tracks),
        PROFILED(timeline_aligns_clocks),
        PROFILED(timeline_nests_phases_of_threads),
        PROFILED(timeline_survives_unbalanced_phases),
        PROFILED(timeline_keeps_odd_names),
        PROFILED(timeline_writes_whole_file_or_none),
        PROFILED(timeline_reports_device_overlap),
        cmocka_unit_test(timeline_overlap_matches_count),
        cmocka_unit_test(timeline_keeps_limited_spans),
        PROFILED(timeline_reports_dropped_spans),
    };
    int status = cmocka_run_group_tests(tests, files_create, files_remove);
    json_decref(trace);
    return status;
}
