/* test_nbody_ensemble_command.c - `stdcl nbody --ensemble` as a run: tables over time, snapshots,
 * mergers and stop conditions of each system, compared with runs of one system.
 *
 *   test_nbody_ensemble_command PATH_OF_STDCL
 * SPDX-License-Identifier: MIT
 */
#include "nbody_command.h"

#include "formats/particles.h"
#include "stdcl/view.h"

#include <math.h>

enum { COLUMNS = 15, MOST_ROWS = 4000 };

/* Two planets merge at 3.7, and the star absorbs the third planet at 5.7. */
static const char close_planets[] = "# mass x y z vx vy vz radius\n"
                                    "1 0 0 0 0 0 0 0.2\n"
                                    "1e-5 1 0 0 0 1 0 0.03\n"
                                    "3e-5 1.00766 0.2573 0 -0.2426 0.95 0 0.03\n"
                                    "2e-5 -4 0.1 0 0.3 0 0 0.01\n";

/* A planet that stays, and one that leaves. */
static const char leaving_planet[] = "1 0 0 0 0 0 0\n1e-6 1 0 0 0 1.1 0\n1e-6 0 2 0 -1.2 0 0\n";

static double table[MOST_ROWS][COLUMNS], other[MOST_ROWS][COLUMNS];

/* Read a table of numbers; return the number of its rows. */
static size_t read_table(const char *name, double (*row)[COLUMNS])
{
    char *const text = bytes_of(in_folder(name), NULL), *at = text ? strchr(text, '\n') : NULL;
    size_t n = 0;
    for (; at && at[1] && n < MOST_ROWS; n++)
        for (size_t c = 0; c < COLUMNS && at && (c == 0 || *at == ','); c++)
            row[n][c] = strtod(at + 1, &at);
    free(text);
    return n;
}

/* Number of files in the index of a series. */
static size_t indexed_files(const char *name)
{
    char *const text = bytes_of(in_folder(name), NULL);
    size_t lines = 0;
    for (const char *at = text; at && (at = strchr(at, '\n')); at++)
        lines++;
    free(text);
    return lines - 1;
}

/* Fail unless the rows of a system equal those of a run of this system alone: all columns but the
 * first, of which the run has `columns`. Return their number. */
static size_t check_rows_of_system(size_t system, size_t n, size_t alone, size_t columns,
                                   double limit)
{
    size_t k = 0;
    for (size_t i = 0; i < n; i++) {
        if ((size_t)table[i][0] != system)
            continue;
        assert_true(k < alone);
        for (size_t c = 0; c < columns; c++)
            if (!(table[i][c + 1] == other[k][c]) && /* also infinite */
                !(fabs(table[i][c + 1] - other[k][c]) <= limit * (1e-9 + fabs(other[k][c]))))
                fail_msg("system %zu, row %zu, column %zu: %.17g, alone %.17g", system, k, c,
                         table[i][c + 1], other[k][c]);
        k++;
    }
    assert_int_equal(k, alone);
    return k;
}

static json_t *event_of(json_t *report, size_t k)
{
    return json_array_get(json_object_get(report, "events"), k);
}

static double number_of(json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

static void check_equal_files(const char *one, const char *two)
{
    size_t size[2];
    char *bytes[] = {bytes_of(in_folder(one), size), bytes_of(in_folder(two), size + 1)};
    assert_true(bytes[0] && bytes[1] && size[0] == size[1]);
    assert_memory_equal(bytes[0], bytes[1], size[0]);
    free(bytes[0]);
    free(bytes[1]);
}

/* ---- Mergers and tables. --------------------------------------------------------------------- */

static void ensemble_merges_like_a_run(void **unused)
{
    struct particles p, q;
    (void)unused;
    put_text(in_folder("close.tab"), close_planets);
    nbody_succeeds("-i close.tab --integrator ias15 --eps 0 --dt 1 --until 16 --collide merge "
                   "--csv one.csv --diag 2 -o one.tab --json");
    json_t *r = nbody_report_json(),
           *alone = json_object_get(json_object_get(r, "collisions"), "events");
    nbody_succeeds("-i close.tab --integrator ias15 --dt 1 --until 16 --collide merge --ensemble 3 "
                   "--spread 1e-4 --csv all.csv --diag 2 -o all.tab --json");
    json_t *s = nbody_report_json();
    for (size_t k = 0; k < 2; k++) { /* the first copy is not perturbed */
        json_t *one = json_array_get(alone, k), *all = event_of(s, k);
        assert_true(number_of(all, "system") == 1);
        assert_string_equal(json_string_value(json_object_get(all, "kind")), "merger");
        assert_true(fabs(number_of(all, "time") - number_of(one, "time")) < 1e-10);
        assert_true(number_of(all, "first") == number_of(one, "first") &&
                    number_of(all, "second") == number_of(one, "second"));
    }
    assert_true(json_array_size(json_object_get(s, "events")) == 6 &&
                number_of(s, "energy_error_max") < 1e-11 && number_of(s, "wrong_systems") == 0);
    json_decref(r);
    json_decref(s);
    const size_t n = read_table("all.csv", table), rows = read_table("one.csv", other);
    assert_int_equal(n, 27);
    check_rows_of_system(1, n, rows, 11, 1e-9);
    works(particles_read(in_folder("one.tab"), &p));
    works(particles_read(in_folder("all.tab"), &q));
    assert_true(p.n == 2 && q.n == 12 && q.radius);
    for (int c = 0; c < 3; c++) { /* rows 0 and 2 remain; 3 is where 0 is, 1 where 2 is */
        assert_true(fabs(q.pos[0][c] - p.pos[0][c]) < 1e-11);
        assert_true(fabs(q.pos[2][c] - p.pos[1][c]) < 1e-11);
        assert_true(q.pos[3][c] == q.pos[0][c] && q.pos[1][c] == q.pos[2][c]);
    }
    assert_true(q.mass[1] == 0 && q.mass[3] == 0 && fabs(q.mass[2] - 4e-5) < 1e-18);
    assert_true(fabs(q.radius[0] - p.radius[0]) < 1e-14 && q.radius[3] == 0);
    particles_free(&p);
    particles_free(&q);
}

/* whfast in heliocentric coordinates, without a corrector, makes the same kicks and drifts in
 * another order: results differ by the planets' mass fraction times the squared step. */
static void ensemble_tables_equal_those_of_a_run(void **unused)
{
    static const double shown[] = {1, 7, 8, 9};
    (void)unused;
    put_text(in_folder("star.tab"), leaving_planet);
    nbody_succeeds("-i star.tab --integrator whfast --coordinates heliocentric --corrector none "
                   "--dt 0.125 --until 20 --csv one.csv --elements orbits.csv --diag 1 -q --eps 0");
    nbody_succeeds("-i star.tab --ensemble 40 --dt 0.125 --until 20 --csv all.csv "
                   "--elements all-orbits.csv --diag 1 --systems 1,7-9 -q");
    size_t n = read_table("all.csv", table), rows = read_table("one.csv", other);
    assert_true(n == 4 * 21 && rows == 21);
    check_rows_of_system(1, n, rows, 11, 1e-7);
    for (size_t i = 0; i < 4; i++)
        assert_true(table[i][0] == shown[i]);
    n = read_table("all-orbits.csv", table);
    rows = read_table("orbits.csv", other);
    assert_true(n == 4 * 2 * 21 && rows == 2 * 21);
    for (size_t i = 0; i < n; i++) { /* the time comes first in the table of one system */
        const double time = table[i][10];
        memmove(table[i] + 2, table[i] + 1, 8 * sizeof(double));
        table[i][1] = time;
    }
    for (size_t i = 0; i < rows; i++)
        other[i][1] = i % 2 ? 3 : 2;
    check_rows_of_system(1, n, rows, 5, 1e-5);
    nbody_succeeds("-i star.tab --ensemble 4 --dt 0.125 --until 20 -o default.csv --json");
    assert_int_equal(read_table("default.csv", table), 4 * 81);
}

/* The table of a system has the energies and the chaos of a run of this system alone, and the table
 * of orbits has the chaos of the table of energies. A run in two parts has the files of one run. */
static void check_tables_of_chaos(const char *integrator)
{
    static const char alone[] = "-i star.tab --integrator %s --dt 0.125 --megno --eps 0 --diag 1 "
                                "--until 20 --csv one.csv -q",
                      run[] = "-i star.tab --integrator %s --dt 0.125 --megno --diag 1 "
                              "--ensemble 9 --systems 1,5 --csv %s.csv --elements %s-orbits.csv "
                              "-o %s.npy --until %s";
    char line[400];
    put_text(in_folder("star.tab"), leaving_planet);
    snprintf(line, sizeof line, alone, integrator);
    nbody_succeeds(line);
    snprintf(line, sizeof line, run, integrator, "all", "all", "all", "20 --json");
    nbody_succeeds(line);
    json_t *r = nbody_report_json();
    assert_true(json_is_integer(json_object_get(r, "chaotic_systems")));
    json_decref(r);
    const size_t n = read_table("all.csv", table), rows = read_table("one.csv", other);
    assert_true(n == 2 * 21 && rows == 21);
    check_rows_of_system(1, n, rows, 14, 1e-7);
    assert_true(table[n - 1][12] > 0.5 && table[n - 1][14] > 0);
    assert_int_equal(read_table("all-orbits.csv", other), 2 * 2 * 21);
    for (size_t i = 0; i < 2 * n; i++) { /* two planets */
        assert_true(other[i][0] == table[i / 2][0] && other[i][10] == table[i / 2][1]);
        assert_true(other[i][11] == table[i / 2][12] && other[i][12] == table[i / 2][14]);
    }
    snprintf(line, sizeof line, run, integrator, "half", "half", "half",
             "10 -q --checkpoint w.ckpt");
    nbody_succeeds(line);
    nbody_succeeds("--resume w.ckpt --until 20 -q");
    check_equal_files("all.csv", "half.csv");
    check_equal_files("all-orbits.csv", "half-orbits.csv");
    check_equal_files("all.npy", "half.npy");
}

static void ensemble_tables_have_chaos(void **unused)
{
    (void)unused;
    check_tables_of_chaos("whfast");
    check_tables_of_chaos("ias15");
}

/* ---- Stop conditions. ------------------------------------------------------------------------ */

/* The outer planet leaves: a system ends at the first step after which it is too far, with a last
 * row then. The other list's system stays. */
static void ensemble_ends_systems_by_distance(void **unused)
{
    (void)unused;
    put_text(in_folder("star.tab"), leaving_planet);
    put_text(in_folder("calm.tab"), "1 0 0 0 0 0 0\n1e-6 1 0 0 0 1 0\n1e-6 0 2 0 -0.7 0 0\n");
    put_text(in_folder("list"), "star.tab\ncalm.tab\n");
    nbody_succeeds("--ensemble list --dt 0.125 --until 40 --stop-distance 9 --csv all.csv --diag 4 "
                   "--elements end.csv --json");
    json_t *r = nbody_report_json();
    const double time = number_of(event_of(r, 0), "time");
    assert_true(json_array_size(json_object_get(r, "events")) == 1);
    assert_string_equal(json_string_value(json_object_get(event_of(r, 0), "kind")), "escape");
    assert_true(number_of(event_of(r, 0), "first") == 3 &&
                number_of(event_of(r, 0), "system") == 1);
    assert_true(number_of(json_object_get(r, "ended"), "escape") == 1);
    json_decref(r);
    nbody_succeeds("-i star.tab --integrator whfast --coordinates heliocentric --corrector none "
                   "--dt 0.125 --until 40 --diag 0.125 --elements orbits.csv -q --eps 0 "
                   "--stop-distance 9 --csv one.csv");
    const size_t n = read_table("all.csv", table), rows = read_table("one.csv", other);
    assert_true(other[rows - 1][0] == time); /* of the stop of a single run */
    size_t last = 0, count = 0;
    for (size_t i = 0; i < n; i++) {
        last = table[i][0] == 1 ? i : last;
        count += table[i][0] == 1;
    }
    assert_true(table[last][1] == time && count == (size_t)ceil(time / 4) + 1);
    assert_true(fabs(table[last][4] - other[rows - 1][3]) < 1e-15);
    nbody_succeeds("--ensemble list --integrator whfast --coordinates heliocentric --dt 0.125 "
                   "--until 40 --stop-distance 9 --csv whfast.csv --diag 4 -q");
    const size_t equal = read_table("whfast.csv", other);
    assert_int_equal(equal, n);
    for (size_t i = 0; i < n; i++)
        assert_true(other[i][1] == table[i][1] && fabs(other[i][4] - table[i][4]) < 1e-14);
    assert_true(n - count == 11);
    nbody_succeeds("--ensemble list --dt 0.125 --until 40 --stop-distance 9 --elements end.csv -q");
    assert_int_equal(read_table("end.csv", table), 4);
    assert_true(table[1][10] == time && table[3][10] == 40);
    nbody_succeeds("-i star.tab --ensemble 12 --dt 0.125 --until 40 --stop-distance 9");
    assert_non_null(strstr(out, "events        12 systems ended by --stop-distance\n"));
    assert_non_null(strstr(out, ": body 3 is beyond --stop-distance 9\n"));
    assert_non_null(strstr(out, "... (--json lists all)"));
    nbody_succeeds("-i close.tab --ensemble 2 --until 8 --collide stop");
    assert_non_null(strstr(out, "events        2 systems ended by --collide stop\n"));
    assert_non_null(strstr(out, "system 1, time 3.6"));
}

static void ensemble_stops_at_time_limit(void **unused)
{
    (void)unused;
    put_text(in_folder("star.tab"), leaving_planet);
    nbody_succeeds("-i star.tab --ensemble 64 --dt 0.125 --steps 1e12 --time-limit 0.3 --json "
                   "-o end.tab --csv all.csv");
    json_t *r = nbody_report_json();
    assert_string_equal(json_string_value(json_object_get(r, "stopped")),
                        "the --time-limit of 0.3 s has passed");
    const double steps = number_of(r, "steps");
    assert_true(steps > 0 && steps < 1e12 && number_of(r, "time") == steps / 8);
    json_decref(r);
    assert_int_equal(read_table("all.csv", table), 128);
    assert_true(table[127][1] == steps / 8);
}

/* ---- Snapshots and checkpoints. -------------------------------------------------------------- */

static void ensemble_writes_snapshots(void **unused)
{
    struct particles p, q;
    (void)unused;
    put_text(in_folder("star.tab"), leaving_planet);
    nbody_succeeds("-i star.tab --ensemble 30 --dt 0.125 --until 10 --snapshots 4 "
                   "-o s-%02d.npy --systems 2,29-30 -o end.npy");
    assert_non_null(strstr(out, "snapshots     s-00.npy ... s-03.npy, with s-series.csv\n"));
    nbody_succeeds("-i star.tab --ensemble 30 --dt 0.125 --until 8 -o all.npy -q");
    works(particles_read(in_folder("s-02.npy"), &p));
    works(particles_read(in_folder("all.npy"), &q));
    assert_true(p.n == 9 && q.n == 90);
    assert_memory_equal(p.pos, q.pos + 3, 3 * sizeof *p.pos);
    assert_memory_equal(p.vel + 3, q.vel + 84, 6 * sizeof *p.pos);
    particles_free(&p);
    particles_free(&q);
    assert_int_equal(indexed_files("s-series.csv"), 4);
    works(particles_read(in_folder("s-03.npy"), &p));
    works(particles_read(in_folder("end.npy"), &q));
    assert_memory_equal(p.pos, q.pos, 9 * sizeof *p.pos);
    particles_free(&p);
    particles_free(&q);
}

static void check_names(const char *file, const char *names)
{
    struct particles p;
    works(particles_read(in_folder(file), &p));
    assert_string_equal(p.note[NOTE_names] ? p.note[NOTE_names] : "none", names);
    assert_string_equal(p.note[NOTE_G], "2");
    assert_string_equal(p.note[NOTE_integrator], "ias15");
    assert_non_null(strstr(p.note[NOTE_command], "--ensemble"));
    particles_free(&p);
}

/* Files and tables have the names of the bodies, and files the metadata of the run. */
static void ensemble_outputs_have_names(void **unused)
{
    static const char *const formats[] = {"tab", "hdf5"};
    (void)unused;
    put_text(in_folder("named.tab"), "# name m a e\nStar 1\nIn 1e-5 1 0\nA,B 1e-5 4 0\n");
    put_text(in_folder("other.tab"), "# m a e\n1 - - # Sun\n1e-5 1 0\n1e-5 5 0 # Far\n");
    put_text(in_folder("names.list"), "named.tab\nother.tab\n");
    for (int k = 0; k < 2; k++) {
        char line[300], file[32];
        snprintf(line, sizeof line,
                 "-i named.tab --ensemble 4 --systems 2,4 -G 2 --integrator ias15 --dt 1 --until 8 "
                 "-o end.%s --snapshots 4 -o s-%%02d.%s -q",
                 formats[k], formats[k]);
        if (run_nbody_command(line) != 0 && strstr(err, "HDF5"))
            continue; /* built without */
        snprintf(file, sizeof file, "end.%s", formats[k]);
        check_names(file, "Star In A,B Star In A,B");
        snprintf(file, sizeof file, "s-01.%s", formats[k]);
        check_names(file, "Star In A,B Star In A,B");
    }
    nbody_succeeds("--ensemble names.list -G 2 --integrator ias15 --dt 1 --until 9.5 -o end.tab "
                   "--elements e.csv --diag 4 --checkpoint n.ckpt -q");
    check_names("end.tab", "Star In A,B Sun - Far");
    load_nbody_file("e.csv", out, sizeof out);
    assert_non_null(strstr(out, ",time,name\n1,2,"));
    for (const char *row = strchr(out, '\n') + 1; *row; row = strchr(row, '\n') + 1) {
        static const char *const last[] = {",In\n", ",\"A,B\"\n", ",\n", ",Far\n"};
        const size_t which = (row[0] == '2' ? 2u : 0u) + (row[2] == '3');
        const char *const name = last[which], *const end = strchr(row, '\n') + 1;
        assert_memory_equal(end - strlen(name), name, strlen(name));
    }
    nbody_succeeds("--resume n.ckpt --until 12 -q");
    load_nbody_file("e.csv", out, sizeof out);
    assert_non_null(strstr(out, ",0,Far\n"));
    assert_non_null(strstr(out, ",12,\"A,B\"\n"));
    put_text(in_folder("crash.tab"), "# G = 2\n# name mass x y z vx vy vz radius\n"
                                     "Star 1 0 0 0 0 0 0 0.2\nIn 1e-5 1 0 0 0 0 0 0.1\n"
                                     "Out 1e-5 0 9 0 0 0 0 0.1\n");
    nbody_succeeds("-i crash.tab --ensemble 2 --integrator ias15 --dt 1 --until 2 --collide merge "
                   "-o end.tab -q");
    check_names("end.tab", "Star - Out Star - Out");
    put_text(in_folder("many.tab"), "# name m a e\n"
                                    "a-star-with-a-name-of-many-bytes 1\nplanet 1e-5 1 0\n");
    nbody_succeeds("-i many.tab --ensemble 2000 --dt 0.1 --steps 1 -o end.tab");
    assert_non_null(strstr(err, "2000 systems have names of more than 60000 bytes"));
    nbody_succeeds("-i many.tab --ensemble 2000 --systems 1-9 --dt 0.1 --steps 1 -o end.tab");
    assert_int_equal(*err, 0);
}

/* A run in two parts has the files of one run: mergers, escapes, tables and snapshots. */
static void ensemble_resumes_with_equal_files(void **unused)
{
    static const char *const run =
        "-i close.tab --ensemble 8 --spread 1e-3 --dt 1/16 --collide merge --stop-distance 4.5 "
        "--systems 1-2,5 --diag 0.5 --csv %s.csv --elements %s-orbits.csv --snapshots 1.5 "
        "-o %s-%%02d.npy -o %s.npy -q --until %s%s";
    char line[500];
    (void)unused;
    put_text(in_folder("close.tab"), close_planets);
    snprintf(line, sizeof line, run, "whole", "whole", "whole", "whole", "8", "");
    nbody_succeeds(line);
    snprintf(line, sizeof line, run, "part", "part", "part", "part", "4.75",
             " --checkpoint e.ckpt --every 1.25");
    nbody_succeeds(line);
    nbody_succeeds("--resume e.ckpt --until 8 -q");
    check_equal_files("whole.csv", "part.csv");
    check_equal_files("whole-orbits.csv", "part-orbits.csv");
    check_equal_files("whole.npy", "part.npy");
    check_equal_files("whole-05.npy", "part-05.npy");
    assert_int_equal(indexed_files("whole-series.csv"), 7);
    assert_int_equal(indexed_files("part-series.csv"), 7);
    nbody_refuses(2, "had other outputs over time",
                  "--resume e.ckpt --until 9 --ensemble 8 --systems 1-3");
    nbody_refuses(2, "had different systems", "--resume e.ckpt --until 9 --collide stop");
}

/* A resumed run may begin the table of orbits over time. Systems that have ended before have their
 * last rows in it, as in the table of a run that ends with them. */
static void ensemble_resumed_with_diag_has_last_rows(void **unused)
{
    static const char run[] = "-i star.tab --ensemble 3 --dt 0.125 --stop-distance 9 --until 20 -q "
                              "--elements %s.csv %s";
    char line[300];
    (void)unused;
    put_text(in_folder("star.tab"), leaving_planet);
    snprintf(line, sizeof line, run, "whole", "");
    nbody_succeeds(line);
    snprintf(line, sizeof line, run, "part", "--csv energies.csv --checkpoint d.ckpt");
    nbody_succeeds(line);
    const size_t rows = read_table("energies.csv", table);
    nbody_succeeds("--resume d.ckpt --until 40 --diag 4 -q");
    check_equal_files("whole.csv", "part.csv");
    assert_int_equal(read_table("part.csv", other), 6);
    assert_true(other[0][10] < 20); /* the first system ended before */
    assert_int_equal(read_table("energies.csv", table), rows);
}

/* A run to a time that is no multiple of the step ends there, as a single run does, and resumes
 * with the files of one run. */
static void ensemble_resumes_after_shortened_step(void **unused)
{
    static const char *const by[] = {"", "--integrator whfast", "--integrator whfast --megno",
                                     "--integrator ias15 --collide merge"};
    char line[300];
    (void)unused;
    put_text(in_folder("close.tab"), close_planets);
    for (size_t k = 0; k < sizeof by / sizeof *by; k++) {
        const char *const run = "-i close.tab --ensemble 5 --spread 1e-3 --dt 0.01 %s --diag 0.25 "
                                "--csv %s.csv -o %s.npy -q --until %s %s";
        snprintf(line, sizeof line, run, by[k], "whole", "whole", "2", "");
        nbody_succeeds(line);
        snprintf(line, sizeof line, run, by[k], "part", "part", "1.005", "--checkpoint s.ckpt");
        nbody_succeeds(line);
        const size_t rows = read_table("part.csv", table);
        assert_true(rows == 30 && fabs(table[29][1] - 1.005) < 1e-15 && table[24][1] == 1);
        nbody_succeeds("--resume s.ckpt --until 2 -q");
        check_equal_files("whole.csv", "part.csv");
        check_equal_files("whole.npy", "part.npy");
    }
    nbody_refuses(2, "ends within step 101", "--resume s.ckpt --until 1.005 --ensemble 5");
    nbody_refuses(2, "but this --dt gives", "--resume s.ckpt --until 3 --dt 0.02");
    nbody_succeeds("-i close.tab --ensemble 1 --integrator whfast --dt 0.01 --until 1.005 -q "
                   "-o all.npy");
    nbody_succeeds(
        "-i close.tab --integrator whfast --eps 0 --dt 0.01 --until 1.005 -q -o one.npy");
    check_equal_files("all.npy", "one.npy");
}

/* The view shows the chosen systems, from the start to the end. */
static void ensemble_records_view(void **unused)
{
    (void)unused;
    put_text(in_folder("star.tab"), leaving_planet);
    nbody_succeeds("-i star.tab --ensemble 30 --dt 0.125 --until 20 --systems 2,5-6 -q "
                   "--record e.view --view-rate 240 --view-budget 100");
    view_recording *r = view_recording_open(in_folder("e.view"));
    ready(r);
    const size_t frames = view_recording_frames(r);
    assert_string_equal(view_recording_title(r), "star.tab: 3 systems");
    assert_true(frames >= 2 && view_recording_time(r, 0) == 0);
    assert_true(view_recording_time(r, frames - 1) == 20);
    view_recording_close(r);
}

/* ---- Refused. -------------------------------------------------------------------------------- */

static void ensemble_rejects_bad_runs(void **unused)
{
    (void)unused;
    put_text(in_folder("star.tab"), leaving_planet);
    nbody_refuses(2, "--systems: there is no system 9; there are 8",
                  "-i star.tab --ensemble 8 --systems 3-9");
    nbody_refuses(2, "ascending numbers from 1 and ranges", "-i star.tab --ensemble 8 --systems 0");
    nbody_refuses(2, "ascending numbers from 1 and ranges",
                  "-i star.tab --ensemble 8 --systems 3,2");
    nbody_refuses(2, "ascending numbers from 1 and ranges",
                  "-i star.tab --ensemble 8 --systems 5-2");
    nbody_refuses(2, "--systems needs --ensemble", "-i star.tab --systems 1");
    nbody_refuses(2, "--collide needs radii, which star.tab does not have",
                  "-i star.tab --ensemble 8 --collide merge");
    nbody_refuses(2, "is a series of files: add --snapshots",
                  "-i star.tab --ensemble 8 -o s-%02d.npy");
    nbody_refuses(2, "is shorter than a step",
                  "-i star.tab --ensemble 8 --dt 0.1 -o s-%02d.npy --snapshots 0.01");
    nbody_refuses(2, "--ensemble writes only bodies", "-i star.tab --ensemble 8 -o a.png");
    nbody_refuses(2, "whfast resolves no close encounters",
                  "-i star.tab --ensemble 8 --integrator whfast --collide merge --radius 0.01");
    nbody_refuses(2, "nbody: --ensemble and --integrator leapfrog cannot be combined: ensembles",
                  "-i star.tab --ensemble 8 --integrator leapfrog");
    nbody_refuses(2, "ensembles support no forces beside gravity; run each system by itself",
                  "-i star.tab --ensemble 8 --external nfw:M=1,a=1");
    nbody_refuses(2, "ensembles have only the events of --stop-distance and --collide",
                  "-i star.tab --ensemble 8 --event apsis:2 --events e.csv");
    nbody_refuses(2, "--diag needs a table", "-i star.tab --ensemble 8 --diag 1");
}

/* Each file of a list is read as if alone, and must have the G and the time of the first. */
static void ensemble_rejects_other_metadata(void **unused)
{
    static const struct {
        const char *first, *second, *message;
    } cases[] = {{"# G = 1\n", "# G = 4\n", "b.tab: G is 4, but 1 in the first file"},
                 {"# G = 4\n", "", "b.tab: G is 1, but 4 in the first file"},
                 {"", "# time = 7\n", "b.tab: its time is 7, but 0 in the first file"},
                 {"# time = 7\n", "# time = 6\n", "b.tab: its time is 6, but 7 in the first"},
                 {"", "# external = point:1\n", "b.tab: its metadata have the forces point:1"},
                 {"# external = point:1\n", "", "a.tab: its metadata have the forces point:1"},
                 {"", "# softening = 0.1\n", "b.tab: its metadata have a softening"},
                 {"# softening = 0.1\n", "", "a.tab: its metadata have a softening"},
                 {"", "# G = -1\n", "b.tab: invalid metadata: G is -1"}};
    char text[300];
    (void)unused;
    put_text(in_folder("two.list"), "a.tab\nb.tab\n");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(text, sizeof text, "%s%s", cases[i].first, leaving_planet);
        put_text(in_folder("a.tab"), text);
        snprintf(text, sizeof text, "%s%s", cases[i].second, leaving_planet);
        put_text(in_folder("b.tab"), text);
        nbody_refuses(1, cases[i].message, "--ensemble two.list --dt 0.1 --steps 1 -o no.tab");
        if (*cases[i].first && !*cases[i].second && i > 3)
            nbody_refuses(1, cases[i].message, "-i a.tab --ensemble 2 --steps 1 -o no.tab");
    }
    assert_true(access(in_folder("no.tab"), F_OK) != 0);
    snprintf(text, sizeof text, "# G = 4\n# time = 7\n# softening = 0\n%s", leaving_planet);
    put_text(in_folder("a.tab"), text);
    put_text(in_folder("b.tab"), text);
    nbody_succeeds("--ensemble two.list --dt 0.5 --steps 2 --json");
    json_t *r = nbody_report_json();
    assert_true(number_of(r, "time") == 8);
    json_decref(r);
    put_text(in_folder("b.tab"), leaving_planet); /* at another time; -G is for all */
    nbody_refuses(1, "b.tab: its time is 0", "--ensemble two.list -G 2 --dt 0.5 --steps 2 -q");
    snprintf(text, sizeof text, "# time = 7\n%s", leaving_planet);
    put_text(in_folder("b.tab"), text);
    nbody_succeeds("--ensemble two.list -G 2 --dt 0.5 --steps 2 -q");
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ensemble_merges_like_a_run),
        cmocka_unit_test(ensemble_tables_equal_those_of_a_run),
        cmocka_unit_test(ensemble_tables_have_chaos),
        cmocka_unit_test(ensemble_ends_systems_by_distance),
        cmocka_unit_test(ensemble_stops_at_time_limit),
        cmocka_unit_test(ensemble_writes_snapshots),
        cmocka_unit_test(ensemble_outputs_have_names),
        cmocka_unit_test(ensemble_resumes_with_equal_files),
        cmocka_unit_test(ensemble_resumed_with_diag_has_last_rows),
        cmocka_unit_test(ensemble_resumes_after_shortened_step),
        cmocka_unit_test(ensemble_records_view),
        cmocka_unit_test(ensemble_rejects_bad_runs),
        cmocka_unit_test(ensemble_rejects_other_metadata),
    };
    if (argc < 2)
        return fprintf(stderr, "usage: test_nbody_ensemble_command PATH_OF_STDCL\n"), 2;
    command = argv[1];
    return cmocka_run_group_tests(tests, files_create, files_remove);
}
