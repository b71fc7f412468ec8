/* profile_report.c - a profile as rows of data, a table, CSV and JSON.
 *
 * All four have the same content: for each device, one row per kernel and per direction of
 * transfers, the longest total first. If the work of a launch is known, the row has its share of
 * the device's measured peak.
 * SPDX-License-Identifier: MIT
 */
#include "profile/profile.h"

#include "core/terminal.h"
#include "core/text_table.h"

#include <jansson.h>
#include <locale.h>

/* ---- Collecting. ---- */

static int by_device_and_total(const void *a, const void *b)
{
    const struct clprofile_row *x = a, *y = b;
    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    return x->total > y->total ? -1 : x->total < y->total;
}

/* Call with p->lock held. */
static void fill_row(struct clprofile_row *out, const struct profile_row *r)
{
    *out = (struct clprofile_row){.device = r->dev,
                                  .name = r->profile->timeline->name[r->name],
                                  .kind = r->kind,
                                  .count = r->count,
                                  .timed = r->timed,
                                  .total = 1e-9 * sample_total(r),
                                  .minimum = 1e-9 * (double)r->minimum,
                                  .maximum = 1e-9 * (double)r->maximum,
                                  .bytes = r->bytes,
                                  .flops = r->flops};
}

/* Call without the profile's lock: measuring a peak launches kernels. */
static void fill_percent(CLCONTEXT *cp, struct clprofile_row *row, int precision, bool measure)
{
    const unsigned parts = peak_parts(row->flops, row->bytes, precision);
    struct clpeak_info peak;
    if (row->kind != CL_KERNEL_EVENT || row->total <= 0 || parts == 0)
        return;
    if (measure ? peak_measure(cp, row->device, parts, &peak) != 0
                : !peak_known(cp, row->device, parts, &peak))
        return;
    double limit = peak_flops(&peak, precision);
    double flops = row->flops > 0 && limit > 0 ? row->flops / row->total / limit : 0;
    double bytes = row->bytes > 0 ? row->bytes / row->total / peak.bytes_per_s : 0;
    const double share = flops > bytes ? flops : bytes;
    row->peak_percent = share < 1 ? 100 * share : 100;
}

/* Content of a report. */
struct report {
    struct clprofile_row *row; /* rows in use, sorted */
    size_t count;
    uint64_t busy, overlap; /* ns, of the kept spans */
    size_t beyond;          /* spans dropped beyond MAX_SPANS */
};

/* Call with p->lock held. */
static bool report_copy_rows(const struct profile *p, struct report *report, int **precision)
{
    size_t n = 0;
    for (const struct profile_row *r = p->rows; r; r = r->next)
        n += r->count > 0;
    report->row = calloc(n + 1, sizeof *report->row);
    *precision = calloc(n + 1, sizeof **precision);
    if (!report->row || !*precision)
        return false;
    for (const struct profile_row *r = p->rows; r; r = r->next)
        if (r->count) {
            (*precision)[report->count] = r->precision;
            fill_row(&report->row[report->count++], r);
        }
    report->beyond = p->timeline->commands.beyond + p->timeline->phases.beyond;
    return timeline_busy(p->timeline, &report->busy, &report->overlap);
}

/* The caller frees report->row. */
static int report_collect(CLCONTEXT *cp, struct report *report, bool measure, const char *call)
{
    struct profile *p = context_observed(cp);
    int *precision = NULL;
    memset(report, 0, sizeof *report);
    context_collect_all(cp);
    if (profile_check_complete(p, call) != 0)
        return -1;
    pthread_mutex_lock(&p->lock);
    bool ok = report_copy_rows(p, report, &precision);
    pthread_mutex_unlock(&p->lock);
    for (size_t i = 0; ok && i < report->count; i++)
        fill_percent(cp, &report->row[i], precision[i], measure);
    free(precision);
    if (!ok) {
        free(report->row);
        return fail(ENOMEM, 0, "%s: out of memory on the host", call);
    }
    qsort(report->row, report->count, sizeof *report->row, by_device_and_total);
    return 0;
}

STDCL_API size_t clprofile_rows(CLCONTEXT *cp, struct clprofile_row *rows, size_t room)
{
    struct report report;
    if (!cp || !context_observed(cp) || forked_child("clprofile_rows") ||
        report_collect(cp, &report, false, "clprofile_rows") != 0)
        return 0;
    for (size_t i = 0; i < report.count && i < room && rows; i++)
        rows[i] = report.row[i];
    free(report.row);
    return report.count;
}

/* ---- The table. ---- */

static double device_total(const struct report *report, cl_uint dev)
{
    double total = 0;
    for (size_t i = 0; i < report->count; i++)
        total += report->row[i].device == dev ? report->row[i].total : 0;
    return total;
}

static double percent_of(double part, double whole)
{
    return whole > 0 ? part / whole : 0;
}

static void add_number(struct text_table *table, double value)
{
    char text[32];
    text_number(text, 3, value);
    text_table_add(table, "%s", value > 0 ? text : "-");
}

/* timed: add a column with the number of timed commands. */
static void add_line(struct text_table *table, const struct clprofile_row *r, double total,
                     bool timed)
{
    text_table_add(table, "%s", r->name);
    text_table_add(table, "%zu", r->count);
    if (timed)
        text_table_add(table, "%zu", r->timed);
    add_number(table, 1e3 * r->total);
    add_number(table, 1e6 * r->total / (double)r->count);
    add_number(table, 1e6 * r->minimum);
    add_number(table, 1e6 * r->maximum);
    text_table_add(table, "%.1f%%", 100 * percent_of(r->total, total));
    add_number(table, percent_of(r->bytes, r->total) / 1e9);
    add_number(table, percent_of(r->flops, r->total) / 1e12);
    text_table_add(table, r->peak_percent > 0 ? "%.1f%%" : "-", r->peak_percent);
}

/* Print the rows of a device. Return -1 if out of memory. */
static int print_device(FILE *fp, const struct report *report, cl_uint dev, bool timed)
{
    struct text_table *table = text_table_create(
        timed
            ? "~kernel or transfer|>2count|>9timed|>total ms|>1mean us|>7min us|>6max us|>share|>4GB/s|>5TFLOP/s|>3peak"
            : "~kernel or transfer|>2count|>total ms|>1mean us|>7min us|>6max us|>share|>4GB/s|>5TFLOP/s|>3peak");
    for (size_t i = 0; i < report->count; i++)
        if (report->row[i].device == dev)
            add_line(table, &report->row[i], device_total(report, dev), timed);
    const int status = text_table_print(table, fp, terminal_columns(fp));
    text_table_free(table);
    return status;
}

static void print_overlap(FILE *fp, const struct report *report)
{
    char text[256], overlap[32], busy[32];
    text_number(overlap, 3, 1e-6 * (double)report->overlap);
    text_number(busy, 3, 1e-6 * (double)report->busy);
    snprintf(
        text, sizeof text,
        "kernels of two or more devices ran at once for %s ms of the %s ms in which any did (%.1f%%)",
        overlap, busy, 100 * percent_of((double)report->overlap, (double)report->busy));
    text_wrap(fp, text, 0, terminal_columns(fp));
    snprintf(
        text, sizeof text,
        "(that is of the first commands only: %zu later ones are in the lines above, not in this one)",
        report->beyond);
    if (report->beyond)
        text_wrap(fp, text, 0, terminal_columns(fp));
}

static void print_device_name(FILE *fp, CLCONTEXT *cp, cl_uint dev, const char *total)
{
    char text[512];
    const int begun = fprintf(fp, "device %u: ", dev);
    snprintf(text, sizeof text, "%s, %s ms", device_name(cp, dev), total);
    text_wrap(fp, text, begun > 0 ? (size_t)begun : 0, terminal_columns(fp));
}

static int report_print_table(FILE *fp, CLCONTEXT *cp, const struct report *report)
{
    bool timed = false;
    char total[32];
    for (size_t i = 0; i < report->count; i++)
        timed = timed || report->row[i].timed < report->row[i].count;
    for (cl_uint dev = 0; dev < clgetndev(cp); dev++) {
        if (device_total(report, dev) <= 0)
            continue;
        text_number(total, 3, 1e3 * device_total(report, dev));
        print_device_name(fp, cp, dev, total);
        if (print_device(fp, report, dev, timed) < 0)
            return fail(ENOMEM, 0, "clprofile_report: out of memory on the host");
    }
    if (timed)
        text_wrap(fp,
                  "(of many short commands some are timed; the others are taken to be like them)",
                  0, terminal_columns(fp));
    if (report->count == 0)
        fputs("nothing ran while profiling was on\n", fp);
    if (clgetndev(cp) > 1 && report->busy > 0)
        print_overlap(fp, report);
    return 0;
}

/* ---- CSV. ---- */

/* A quoted field (RFC 4180). */
static void print_field(FILE *fp, const char *text)
{
    fputc('"', fp);
    for (; *text; text++)
        fputs(*text == '"' ? "\"\"" : (char[]){*text, 0}, fp);
    fputc('"', fp);
}

static const char *row_kind_name(const struct clprofile_row *r)
{
    return r->kind == CL_KERNEL_EVENT ? "kernel" : "transfer";
}

static void print_csv(FILE *fp, CLCONTEXT *cp, const struct report *report)
{
    fprintf(
        fp,
        "device,device_name,kind,name,count,timed,total_s,mean_s,min_s,max_s,share,bytes,bytes_per_s,"
        "flops,flops_per_s,peak_percent\n");
    for (size_t i = 0; i < report->count; i++) {
        const struct clprofile_row *r = &report->row[i];
        fprintf(fp, "%u,", r->device);
        print_field(fp, device_name(cp, r->device));
        fprintf(fp, ",%s,", row_kind_name(r));
        print_field(fp, r->name);
        fprintf(fp, ",%zu,%zu,%.9g,%.9g,%.9g,%.9g,%.6g,%.17g,%.6g,%.17g,%.6g,%.4g\n", r->count,
                r->timed, r->total, r->total / (double)r->count, r->minimum, r->maximum,
                percent_of(r->total, device_total(report, r->device)), r->bytes,
                percent_of(r->bytes, r->total), r->flops, percent_of(r->flops, r->total),
                r->peak_percent);
    }
}

/* ---- JSON. ---- */

static json_t *json_row(const struct clprofile_row *r, double device_seconds)
{
    return json_pack("{s:s, s:s, s:I, s:I, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f}",
                     "kind", row_kind_name(r), "name", r->name, "count", (json_int_t)r->count,
                     "timed", (json_int_t)r->timed, "total_s", r->total, "mean_s",
                     r->total / (double)r->count, "min_s", r->minimum, "max_s", r->maximum, "share",
                     percent_of(r->total, device_seconds), "bytes", r->bytes, "bytes_per_s",
                     percent_of(r->bytes, r->total), "flops", r->flops, "flops_per_s",
                     percent_of(r->flops, r->total), "peak_percent", r->peak_percent);
}

static json_t *report_json_device(CLCONTEXT *cp, cl_uint dev, const struct report *report)
{
    double total = device_total(report, dev);
    json_t *rows = json_array();
    for (size_t i = 0; i < report->count; i++)
        if (report->row[i].device == dev)
            json_array_append_new(rows, json_row(&report->row[i], total));
    return json_pack("{s:s, s:f, s:o}", "device", device_name(cp, dev), "total_s", total, "rows",
                     rows);
}

static void report_print_json(FILE *fp, CLCONTEXT *cp, const struct report *report)
{
    json_t *devices = json_array();
    for (cl_uint dev = 0; dev < clgetndev(cp); dev++)
        json_array_append_new(devices, report_json_device(cp, dev, report));
    json_t *root = json_pack(
        "{s:o, s:f, s:f, s:I}", "devices", devices, "busy_s", 1e-9 * (double)report->busy,
        "overlap_s", 1e-9 * (double)report->overlap, "spans_not_kept", (json_int_t)report->beyond);
    json_dumpf(root, fp, JSON_INDENT(2) | JSON_REAL_PRECISION(12));
    fputc('\n', fp);
    json_decref(root);
}

/* ---- What prints. ---- */

/* Numbers have decimal points in every locale. */
static locale_t c_locale;
static void report_make_c_locale(void)
{
    c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

int profile_report(CLCONTEXT *cp, FILE *fp, int format, bool measure)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    struct report report;
    if (report_collect(cp, &report, measure, "clprofile_report") != 0)
        return -1;
    int status = 0;
    pthread_once(&once, report_make_c_locale);
    locale_t before = uselocale(c_locale);
    if (format == CLPROF_CSV)
        print_csv(fp, cp, &report);
    else if (format == CLPROF_JSON)
        report_print_json(fp, cp, &report);
    else
        status = report_print_table(fp, cp, &report);
    uselocale(before);
    free(report.row);
    if (status != 0)
        return -1;
    return fflush(fp) != 0 || ferror(fp)
               ? fail(EIO, 0, "clprofile_report: the profile cannot be written")
               : 0;
}

STDCL_API int clprofile_report(CLCONTEXT *cp, FILE *fp, int format)
{
    if (!cp || !fp)
        return fail(EINVAL, 0, "clprofile_report: the context or the file is NULL");
    if (forked_child("clprofile_report"))
        return -1;
    if (format != CLPROF_TABLE && format != CLPROF_CSV && format != CLPROF_JSON)
        return fail(EINVAL, 0,
                    "clprofile_report: format %d is none of CLPROF_TABLE, _CSV and _JSON", format);
    if (!context_observed(cp))
        return fail(
            EINVAL, 0,
            "clprofile_report: profiling was never on; call clprofile(cp, 1) first, and look at what it returns");
    return profile_report(cp, fp, format, true);
}
