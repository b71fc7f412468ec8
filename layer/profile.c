/* profile.c - where the time went: a line per kernel and per direction of transfers, and a timeline.
 *
 * Each command carries a note of the line it belongs to; when its event is collected, its two time stamps
 * are added there and the event is gone, so that memory stays bounded however long a program runs. Device
 * clocks are set against the host's once, when profiling is turned on.
 */
#include "internal.h"

#include <jansson.h>
#include <time.h>
#include <unistd.h>

enum { MAX_SPANS = 1 << 18, MAX_DEPTH = 16, HOST_TRACK = 1000 };

struct profile_row {
    struct profile_row *next;
    struct profile *profile;
    cl_uint dev;
    int kind;      /* CL_KERNEL_EVENT or CL_MEM_EVENT */
    int precision; /* of the flops */
    char *name;
    size_t count;
    uint64_t total, minimum, maximum; /* ns */
    double flops, bytes;
};

/* An interval on a track, ns of the host's monotonic clock. */
struct span {
    const char *name; /* of a row, or a phase name that the profile owns */
    uint64_t start, end;
    unsigned track; /* 2 * device + (0 kernels, 1 transfers), or HOST_TRACK + thread */
};

struct profile {
    struct profile *next; /* of all profiles of the process */
    CLCONTEXT *cp;
    bool on;
    bool print_at_end; /* the environment asked */
    int64_t *offset;   /* host clock minus device clock, ns, per device */
    pthread_mutex_t lock; /* guards what follows */
    struct profile_row *rows;
    struct profile_row **transfer; /* [device * TRANSFER_KINDS + direction] */
    struct span *spans;
    size_t nspans, room, beyond;
};

static struct profile *all_profiles;
static pthread_mutex_t all_lock = PTHREAD_MUTEX_INITIALIZER;

static uint64_t host_clock(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* ---- What the environment asks for. ---- */

static const char *wanted_format(void)
{
    const char *v = getenv("STDCL_PROFILE");
    return v && *v && strcmp(v, "0") != 0 ? v : NULL;
}

static const char *wanted_trace(void)
{
    const char *v = getenv("STDCL_TRACE");
    return v && *v ? v : NULL;
}

bool profile_wanted(void) { return wanted_format() || wanted_trace(); }

static void harvest(CLCONTEXT *cp);
static void trace_profile(json_t *list, struct profile *p);
static int write_trace(json_t *list, size_t beyond, const char *file);

/* Timelines of contexts that are gone, for STDCL_TRACE. */
static json_t *finished_spans;
static size_t finished_beyond;

/* A context ends, or the program does: print what the environment asked for, once. */
static void print_at_end(struct profile *p)
{
    const char *format = wanted_format();
    bool used = false;
    p->print_at_end = false;
    harvest(p->cp);
    for (struct profile_row *r = p->rows; r; r = r->next)
        used = used || r->count > 0;
    if (format && used)
        clprofile_report(p->cp, stderr, strcmp(format, "csv") == 0    ? CLPROF_CSV
                                        : strcmp(format, "json") == 0 ? CLPROF_JSON
                                                                      : CLPROF_TABLE);
    if (wanted_trace() && p->nspans) {
        finished_spans = finished_spans ? finished_spans : json_array();
        trace_profile(finished_spans, p);
        finished_beyond += p->beyond;
    }
}

static void print_all(void)
{
    for (struct profile *p = all_profiles; p; p = p->next)
        if (p->print_at_end)
            print_at_end(p);
    if (finished_spans && write_trace(finished_spans, finished_beyond, wanted_trace()) != 0)
        fprintf(stderr, "stdcl: STDCL_TRACE: %s\n", clerror());
}

static pthread_once_t at_end_once = PTHREAD_ONCE_INIT;
static uint64_t time_zero; /* of timelines: when the first profile was made */
static void register_print_all(void) { atexit(print_all); }

/* ---- On and off. ---- */

cl_command_queue_properties profile_queue_flags(const CLCONTEXT *cp)
{
    const struct profile *p = atomic_load_explicit(&cp->profile, memory_order_acquire);
    return p && p->on ? CL_QUEUE_PROFILING_ENABLE : 0;
}

static struct profile *profile_new(CLCONTEXT *cp)
{
    struct profile *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    p->cp = cp;
    p->offset = calloc(cp->ndev, sizeof *p->offset);
    p->transfer = calloc((size_t)cp->ndev * TRANSFER_KINDS, sizeof(*p->transfer));
    if (!p->offset || !p->transfer) {
        free(p->offset);
        free(p->transfer);
        free(p);
        return NULL;
    }
    pthread_mutex_init(&p->lock, NULL);
    pthread_mutex_lock(&all_lock);
    time_zero = all_profiles || time_zero ? time_zero : host_clock();
    p->next = all_profiles;
    all_profiles = p;
    pthread_mutex_unlock(&all_lock);
    return p;
}

/* The device's clock at the end of a marker is the host's clock now, to some microseconds. */
static int64_t clock_offset(const struct device *d)
{
    cl_event ev;
    cl_ulong end = 0;
    int64_t best = INT64_MAX;
    for (int i = 0; i < 5; i++) {
        if (clEnqueueMarkerWithWaitList(d->queue, 0, NULL, &ev) != CL_SUCCESS)
            break;
        clWaitForEvents(1, &ev);
        int64_t now = (int64_t)host_clock();
        if (clGetEventProfilingInfo(ev, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL) == CL_SUCCESS &&
            now - (int64_t)end < best)
            best = now - (int64_t)end;
        clReleaseEvent(ev);
    }
    return best == INT64_MAX ? 0 : best;
}

static int change_queue(struct device *d, cl_command_queue_properties flags)
{
    cl_int err;
    clFinish(d->queue);
    device_harvest(d);
    cl_command_queue queue = clCreateCommandQueue(d->context, d->id, flags, &err);
    if (!queue)
        return fail(errno_of(err), err, "clprofile: no other queue on %s", d->name);
    clReleaseCommandQueue(d->queue);
    d->queue = queue;
    return 0;
}

STDCL_API int clprofile(CLCONTEXT *cp, int on)
{
    if (!cp)
        return fail(EINVAL, 0, "clprofile: the context is NULL");
    struct profile *p = atomic_load(&cp->profile);
    if (!p && !on)
        return 0;
    if (!p && !(p = profile_new(cp)))
        return fail(ENOMEM, 0, "clprofile: no memory on the host");
    if (p->on == (on != 0))
        return 0;
    for (cl_uint i = 0; i < cp->ndev; i++) {
        if (change_queue(&cp->dev[i], on ? CL_QUEUE_PROFILING_ENABLE : 0) != 0)
            return -1;
        if (on)
            p->offset[i] = clock_offset(&cp->dev[i]);
    }
    p->on = on != 0;
    p->print_at_end = p->print_at_end || (on && profile_wanted());
    if (p->print_at_end)
        pthread_once(&at_end_once, register_print_all);
    atomic_store_explicit(&cp->profile, p, memory_order_release);
    return 0;
}

STDCL_API int clprofile_reset(CLCONTEXT *cp)
{
    if (!cp)
        return fail(EINVAL, 0, "clprofile_reset: the context is NULL");
    struct profile *p = atomic_load(&cp->profile);
    if (!p)
        return 0;
    harvest(cp);
    pthread_mutex_lock(&p->lock);
    for (struct profile_row *r = p->rows; r; r = r->next) {
        r->count = 0;
        r->total = r->minimum = r->maximum = 0;
        r->flops = r->bytes = 0;
    }
    p->nspans = p->beyond = 0;
    pthread_mutex_unlock(&p->lock);
    return 0;
}

void profile_free(CLCONTEXT *cp)
{
    struct profile *p = atomic_load(&cp->profile);
    if (!p)
        return;
    if (p->print_at_end)
        print_at_end(p);
    pthread_mutex_lock(&all_lock);
    for (struct profile **link = &all_profiles; *link; link = &(*link)->next)
        if (*link == p) {
            *link = p->next;
            break;
        }
    pthread_mutex_unlock(&all_lock);
    while (p->rows) {
        struct profile_row *r = p->rows;
        p->rows = r->next;
        free(r->name);
        free(r);
    }
    atomic_store(&cp->profile, NULL);
    pthread_mutex_destroy(&p->lock);
    free(p->spans);
    free(p->transfer);
    free(p->offset);
    free(p);
}

/* ---- Gathering. ---- */

/* p->lock is held. */
static struct profile_row *row_of(struct profile *p, cl_uint dev, int kind, int precision, const char *name)
{
    struct profile_row *r = p->rows;
    while (r && !(r->dev == dev && r->kind == kind && r->precision == precision &&
                  strcmp(r->name, name) == 0))
        r = r->next;
    if (r || !(r = calloc(1, sizeof *r)))
        return r;
    if (!(r->name = strdup(name))) {
        free(r);
        return NULL;
    }
    r->profile = p;
    r->dev = dev;
    r->kind = kind;
    r->precision = precision;
    r->next = p->rows;
    p->rows = r;
    return r;
}

struct profile_row *profile_row_of(CLCONTEXT *cp, cl_uint dev, int precision, const char *name)
{
    struct profile *p = atomic_load_explicit(&cp->profile, memory_order_acquire);
    if (!p)
        return NULL;
    pthread_mutex_lock(&p->lock);
    struct profile_row *r = row_of(p, dev, CL_KERNEL_EVENT, precision, name);
    pthread_mutex_unlock(&p->lock);
    return r;
}

struct profile_row *profile_transfer_row(CLCONTEXT *cp, cl_uint dev, enum transfer_kind direction)
{
    static const char *const names[TRANSFER_KINDS] = {"host to device", "device to host", "copy on device"};
    struct profile *p = atomic_load_explicit(&cp->profile, memory_order_acquire);
    if (!p || !p->on)
        return NULL;
    pthread_mutex_lock(&p->lock);
    struct profile_row **r = &p->transfer[dev * TRANSFER_KINDS + direction];
    if (!*r)
        *r = row_of(p, dev, CL_MEM_EVENT, CLPROF_SINGLE, names[direction]);
    pthread_mutex_unlock(&p->lock);
    return *r;
}

/* p->lock is held. */
static void add_span(struct profile *p, const char *name, unsigned track, uint64_t start, uint64_t end)
{
    if (p->nspans == p->room && p->room < MAX_SPANS) {
        size_t room = p->room ? 2 * p->room : 1024;
        struct span *spans = realloc(p->spans, room * sizeof *spans);
        if (spans) {
            p->spans = spans;
            p->room = room;
        }
    }
    if (p->nspans < p->room)
        p->spans[p->nspans++] = (struct span){name, start, end, track};
    else
        p->beyond++;
}

void profile_add(const struct note *note, cl_event ev)
{
    struct profile_row *r = note->row;
    struct profile *p = r->profile;
    cl_ulong start = 0, end = 0;
    if (clGetEventProfilingInfo(ev, CL_PROFILING_COMMAND_START, sizeof start, &start, NULL) != CL_SUCCESS ||
        clGetEventProfilingInfo(ev, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL) != CL_SUCCESS)
        return;
    uint64_t t = end > start ? end - start : 0;
    pthread_mutex_lock(&p->lock);
    r->minimum = r->count && r->minimum < t ? r->minimum : t;
    r->maximum = r->maximum > t ? r->maximum : t;
    r->total += t;
    r->count++;
    r->flops += note->flops;
    r->bytes += note->bytes;
    uint64_t host_start = start + (uint64_t)p->offset[r->dev];
    add_span(p, r->name, 2 * r->dev + (r->kind == CL_MEM_EVENT), host_start, host_start + t);
    pthread_mutex_unlock(&p->lock);
}

/* Waits for all commands of a context and adds them up. */
static void harvest(CLCONTEXT *cp)
{
    for (cl_uint i = 0; i < cp->ndev; i++) {
        device_drain(&cp->dev[i]);
        device_harvest(&cp->dev[i]);
    }
}

/* ---- Host phases. ---- */

static _Thread_local struct {
    struct profile *profile;
    uint64_t start;
    const char *name;
} open_phase[MAX_DEPTH];
static _Thread_local int depth;
static _Thread_local unsigned thread_track;
static _Atomic unsigned threads;

STDCL_API void clprofile_begin(CLCONTEXT *cp, const char *name)
{
    struct profile *p = cp && name ? atomic_load_explicit(&cp->profile, memory_order_acquire) : NULL;
    if (depth < MAX_DEPTH) {
        open_phase[depth].profile = p && p->on ? p : NULL;
        if (p && p->on) {
            pthread_mutex_lock(&p->lock);
            struct profile_row *r = row_of(p, 0, 0, 0, name); /* kind 0: a name, not a line */
            pthread_mutex_unlock(&p->lock);
            open_phase[depth].name = r ? r->name : "phase";
            open_phase[depth].start = host_clock();
        }
    }
    depth++;
}

STDCL_API void clprofile_end(CLCONTEXT *cp)
{
    (void)cp;
    if (depth == 0)
        return;
    depth--;
    if (depth >= MAX_DEPTH || !open_phase[depth].profile)
        return;
    struct profile *p = open_phase[depth].profile;
    if (!thread_track)
        thread_track = HOST_TRACK + atomic_fetch_add(&threads, 1);
    pthread_mutex_lock(&p->lock);
    add_span(p, open_phase[depth].name, thread_track, open_phase[depth].start, host_clock());
    pthread_mutex_unlock(&p->lock);
}

/* ---- Reporting. ---- */

static int by_device_and_total(const void *a, const void *b)
{
    const struct clprofile_row *x = a, *y = b;
    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    return x->total > y->total ? -1 : x->total < y->total;
}

static void fill_row(struct clprofile_row *out, const struct profile_row *r)
{
    *out = (struct clprofile_row){.device = r->dev, .name = r->name, .kind = r->kind, .count = r->count,
                                  .total = 1e-9 * (double)r->total, .minimum = 1e-9 * (double)r->minimum,
                                  .maximum = 1e-9 * (double)r->maximum, .bytes = r->bytes, .flops = r->flops};
}

/* The percentages need measured peaks, and measuring launches kernels: not under the profile's lock. */
static void fill_percent(CLCONTEXT *cp, struct clprofile_row *row, int precision)
{
    struct clpeak_info peak;
    if (row->kind != CL_KERNEL_EVENT || row->total <= 0 || (row->flops <= 0 && row->bytes <= 0) ||
        clpeak(cp, row->device, &peak) != 0)
        return;
    double flops = precision == CLPROF_DOUBLE ? peak.flops_double : peak.flops_single;
    double rate = (row->flops > 0 ? row->flops : row->bytes) / row->total;
    double limit = row->flops > 0 ? flops : peak.bytes_per_s;
    row->peak_percent = limit > 0 ? 100 * rate / limit : 0;
}

/* All lines that were used, sorted; the caller frees them. */
static struct clprofile_row *collect_rows(CLCONTEXT *cp, size_t *count)
{
    struct profile *p = cp ? atomic_load(&cp->profile) : NULL;
    size_t n = 0;
    *count = 0;
    if (!p)
        return NULL;
    harvest(cp);
    pthread_mutex_lock(&p->lock);
    for (struct profile_row *r = p->rows; r; r = r->next)
        n += r->count > 0;
    struct clprofile_row *rows = calloc(n + 1, sizeof *rows);
    int *precision = calloc(n + 1, sizeof *precision);
    for (struct profile_row *r = p->rows; rows && precision && r; r = r->next)
        if (r->count) {
            precision[*count] = r->precision;
            fill_row(&rows[(*count)++], r);
        }
    pthread_mutex_unlock(&p->lock);
    for (size_t i = 0; i < *count; i++)
        fill_percent(cp, &rows[i], precision[i]);
    free(precision);
    if (rows)
        qsort(rows, *count, sizeof *rows, by_device_and_total);
    return rows;
}

STDCL_API size_t clprofile_rows(CLCONTEXT *cp, struct clprofile_row *rows, size_t room)
{
    size_t n;
    struct clprofile_row *all = collect_rows(cp, &n);
    for (size_t i = 0; i < n && i < room && rows; i++)
        rows[i] = all[i];
    free(all);
    return n;
}

static int by_start(const void *a, const void *b)
{
    const struct span *x = a, *y = b;
    return x->start < y->start ? -1 : x->start > y->start;
}

/* Seconds during which at least `many` devices were busy with kernels, by the kept spans. */
static double busy_time(struct profile *p, unsigned many)
{
    struct span *s = NULL;
    size_t n = 0;
    pthread_mutex_lock(&p->lock);
    s = malloc((p->nspans + 1) * sizeof *s);
    for (size_t i = 0; s && i < p->nspans; i++)
        if (p->spans[i].track < HOST_TRACK && p->spans[i].track % 2 == 0)
            s[n++] = p->spans[i];
    pthread_mutex_unlock(&p->lock);
    if (!s)
        return 0;
    qsort(s, n, sizeof *s, by_start);

    /* A device's commands run one after the other, so a sweep needs each device's current end only. */
    uint64_t busy = 0;
    uint64_t *end = calloc(p->cp->ndev, sizeof *end);
    for (size_t i = 0; end && i < n; i++) {
        uint64_t from = s[i].start, to = s[i].end;
        unsigned others = 0;
        uint64_t until = to;
        for (cl_uint d = 0; d < p->cp->ndev; d++)
            if (d != s[i].track / 2 && end[d] > from) {
                others++;
                until = end[d] < until ? end[d] : until;
            }
        if (many == 1) {
            for (cl_uint d = 0; d < p->cp->ndev; d++)
                from = end[d] > from ? end[d] : from;
            busy += to > from ? to - from : 0;
        } else if (others + 1 >= many) {
            busy += until - s[i].start;
        }
        if (to > end[s[i].track / 2])
            end[s[i].track / 2] = to;
    }
    free(end);
    free(s);
    return 1e-9 * (double)busy;
}

static double device_total(const struct clprofile_row *rows, size_t n, cl_uint dev)
{
    double total = 0;
    for (size_t i = 0; i < n; i++)
        total += rows[i].device == dev ? rows[i].total : 0;
    return total;
}

static void print_rate(FILE *fp, double amount, double seconds, double unit, int width)
{
    if (amount > 0 && seconds > 0)
        fprintf(fp, " %*.*f", width, amount / seconds / unit < 10 ? 3 : 1, amount / seconds / unit);
    else
        fprintf(fp, " %*s", width, "-");
}

static void print_table(FILE *fp, CLCONTEXT *cp, const struct clprofile_row *rows, size_t n)
{
    for (cl_uint dev = 0; dev < cp->ndev; dev++) {
        double total = device_total(rows, n, dev);
        if (total <= 0)
            continue;
        fprintf(fp, "device %u: %s, %.3f ms\n", dev, cp->dev[dev].name, 1e3 * total);
        fprintf(fp, "  %-28s %9s %11s %10s %10s %10s %6s %8s %8s %6s\n", "kernel or transfer", "count",
                "total ms", "mean us", "min us", "max us", "share", "GB/s", "TFLOP/s", "peak");
        for (size_t i = 0; i < n; i++) {
            const struct clprofile_row *r = &rows[i];
            if (r->device != dev)
                continue;
            fprintf(fp, "  %-28s %9zu %11.3f %10.2f %10.2f %10.2f %5.1f%%", r->name, r->count, 1e3 * r->total,
                    1e6 * r->total / (double)r->count, 1e6 * r->minimum, 1e6 * r->maximum,
                    100 * r->total / total);
            print_rate(fp, r->bytes, r->total, 1e9, 8);
            print_rate(fp, r->flops, r->total, 1e12, 8);
            if (r->peak_percent > 0)
                fprintf(fp, " %5.1f%%\n", r->peak_percent);
            else
                fprintf(fp, " %6s\n", "-");
        }
    }
    if (cp->ndev > 1) {
        double one = busy_time(cp->profile, 1), two = busy_time(cp->profile, 2);
        fprintf(fp, "kernels of two or more devices overlapped for %.3f ms of %.3f ms (%.1f%%)\n", 1e3 * two,
                1e3 * one, one > 0 ? 100 * two / one : 0);
    }
}

static void print_csv(FILE *fp, CLCONTEXT *cp, const struct clprofile_row *rows, size_t n)
{
    fprintf(fp, "device,device_name,kind,name,count,total_s,mean_s,min_s,max_s,share,bytes,bytes_per_s,"
                "flops,flops_per_s,peak_percent\n");
    for (size_t i = 0; i < n; i++) {
        const struct clprofile_row *r = &rows[i];
        double t = r->total > 0 ? r->total : 1;
        fprintf(fp, "%u,\"%s\",%s,\"%s\",%zu,%.9g,%.9g,%.9g,%.9g,%.6g,%.17g,%.6g,%.17g,%.6g,%.4g\n", r->device,
                cp->dev[r->device].name, r->kind == CL_KERNEL_EVENT ? "kernel" : "transfer", r->name, r->count,
                r->total, r->total / (double)r->count, r->minimum, r->maximum,
                r->total / device_total(rows, n, r->device), r->bytes, r->bytes / t, r->flops, r->flops / t,
                r->peak_percent);
    }
}

static json_t *json_row(const struct clprofile_row *r, double device_seconds)
{
    double t = r->total > 0 ? r->total : 1;
    return json_pack("{s:s, s:s, s:I, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f}", "kind",
                     r->kind == CL_KERNEL_EVENT ? "kernel" : "transfer", "name", r->name, "count",
                     (json_int_t)r->count, "total_s", r->total, "mean_s", r->total / (double)r->count, "min_s",
                     r->minimum, "max_s", r->maximum, "share", r->total / device_seconds, "bytes", r->bytes,
                     "bytes_per_s", r->bytes / t, "flops", r->flops, "flops_per_s", r->flops / t,
                     "peak_percent", r->peak_percent);
}

static int print_json(FILE *fp, CLCONTEXT *cp, const struct clprofile_row *rows, size_t n)
{
    json_t *root = json_object(), *devices = json_array();
    for (cl_uint dev = 0; dev < cp->ndev; dev++) {
        double total = device_total(rows, n, dev);
        json_t *list = json_array();
        for (size_t i = 0; i < n; i++)
            if (rows[i].device == dev)
                json_array_append_new(list, json_row(&rows[i], total > 0 ? total : 1));
        json_array_append_new(devices, json_pack("{s:s, s:f, s:o}", "device", cp->dev[dev].name, "total_s",
                                                 total, "rows", list));
    }
    json_object_set_new(root, "devices", devices);
    json_object_set_new(root, "busy_s", json_real(busy_time(cp->profile, 1)));
    json_object_set_new(root, "overlap_s", json_real(busy_time(cp->profile, 2)));
    int status = json_dumpf(root, fp, JSON_INDENT(2));
    fputc('\n', fp);
    json_decref(root);
    return status;
}

STDCL_API int clprofile_report(CLCONTEXT *cp, FILE *fp, int format)
{
    size_t n;
    if (!cp || !fp)
        return fail(EINVAL, 0, "clprofile_report: the context or the file is NULL");
    if (!atomic_load(&cp->profile))
        return fail(EINVAL, 0, "clprofile_report: profiling was never on; call clprofile(cp, 1) first");
    struct clprofile_row *rows = collect_rows(cp, &n);
    if (!rows)
        return fail(ENOMEM, 0, "clprofile_report: no memory on the host");
    if (format == CLPROF_CSV)
        print_csv(fp, cp, rows, n);
    else if (format == CLPROF_JSON)
        print_json(fp, cp, rows, n);
    else
        print_table(fp, cp, rows, n);
    free(rows);
    return ferror(fp) ? fail(EIO, 0, "clprofile_report: the profile cannot be written") : 0;
}

/* ---- The timeline. ---- */

static void trace_name(json_t *list, cl_uint pid, unsigned tid, const char *what, const char *name)
{
    json_array_append_new(list, json_pack("{s:s, s:s, s:i, s:i, s:{s:s}}", "ph", "M", "name", what, "pid",
                                          (int)pid, "tid", (int)tid, "args", "name", name));
}

/* Process 0 is the host, process 1 + d device d; a device has a track for kernels and one for transfers. */
static void trace_profile(json_t *list, struct profile *p)
{
    for (cl_uint d = 0; d < p->cp->ndev; d++) {
        trace_name(list, 1 + d, 0, "process_name", p->cp->dev[d].name);
        trace_name(list, 1 + d, 0, "thread_name", "kernels");
        trace_name(list, 1 + d, 1, "thread_name", "transfers");
    }
    trace_name(list, 0, 0, "process_name", "host");
    pthread_mutex_lock(&p->lock);
    for (size_t i = 0; i < p->nspans; i++) {
        const struct span *s = &p->spans[i];
        bool host = s->track >= HOST_TRACK;
        json_array_append_new(list, json_pack("{s:s, s:s, s:f, s:f, s:i, s:i}", "ph", "X", "name", s->name, "ts",
                                              1e-3 * (double)(int64_t)(s->start - time_zero), "dur",
                                              1e-3 * (double)(s->end - s->start), "pid",
                                              host ? 0 : (int)(1 + s->track / 2), "tid",
                                              host ? (int)(s->track - HOST_TRACK) : (int)(s->track % 2)));
    }
    pthread_mutex_unlock(&p->lock);
}

/* Written under a temporary name, then renamed. */
static int write_trace(json_t *list, size_t beyond, const char *file)
{
    char *temporary = NULL;
    json_t *root = json_pack("{s:o, s:s, s:{s:I}}", "traceEvents", list, "displayTimeUnit", "ms", "otherData",
                             "spans_not_kept", (json_int_t)beyond);
    if (!root || asprintf(&temporary, "%s.tmp%ld", file, (long)getpid()) < 0) {
        json_decref(root);
        return fail(ENOMEM, 0, "clprofile_trace: no memory on the host");
    }
    FILE *fp = fopen(temporary, "we");
    bool ok = fp && json_dumpf(root, fp, JSON_COMPACT | JSON_REAL_PRECISION(12)) == 0;
    ok = fp && fclose(fp) == 0 && ok && rename(temporary, file) == 0;
    int status = ok ? 0 : fail(errno, 0, "clprofile_trace: %s: %s", file, strerror(errno));
    if (!ok && fp)
        unlink(temporary);
    json_decref(root);
    free(temporary);
    return status;
}

STDCL_API int clprofile_trace(CLCONTEXT *cp, const char *file)
{
    struct profile *p = cp ? atomic_load(&cp->profile) : NULL;
    if (!p || !file)
        return fail(EINVAL, 0, "clprofile_trace: %s", p ? "the file name is NULL"
                    : "profiling was never on; call clprofile(cp, 1) first");
    harvest(cp);
    json_t *list = json_array();
    trace_profile(list, p);
    return write_trace(list, p->beyond, file);
}
