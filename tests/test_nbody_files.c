/* test_nbody_files.c - `stdcl nbody` and its files: recorded settings, series of snapshots.
 *
 *   test_nbody_files PATH_OF_STDCL
 * SPDX-License-Identifier: MIT
 */
#include "nbody_command.h"
#include "deep.h"

#include "formats/particles.h"

#include <math.h>
#include <sys/statvfs.h>

/* Fail unless the files are equal except for the recorded command line. */
static void check_same_bodies_in_files(const char *one, const char *other)
{
    struct particles p, q;
    works(particles_read(in_folder(one), &p));
    works(particles_read(in_folder(other), &q));
    assert_int_equal(p.n, q.n);
    assert_true(p.time == q.time);
    assert_memory_equal(p.mass, q.mass, p.n * sizeof *p.mass);
    assert_memory_equal(p.pos, q.pos, p.n * sizeof *p.pos);
    assert_memory_equal(p.vel, q.vel, p.n * sizeof *p.vel);
    particles_free(&p);
    particles_free(&q);
}

static void check_same_file_bytes(const char *one, const char *other, bool same)
{
    size_t size1, size2;
    char *bytes1 = bytes_of(in_folder(one), &size1), *bytes2 = bytes_of(in_folder(other), &size2);
    ready(bytes1);
    ready(bytes2);
    assert_true((size1 == size2 && memcmp(bytes1, bytes2, size1) == 0) == same);
    free(bytes1);
    free(bytes2);
}

static void check_file_has(const char *name, const char *words)
{
    char *text = bytes_of(in_folder(name), NULL);
    ready(text);
    if (!strstr(text, words))
        fail_msg("'%s' is not in %s", words, name);
    free(text);
}

/* ---- What files remember. -------------------------------------------------------------------- */

static void nbody_files_keep_settings(void **unused)
{
    struct particles p;
    (void)unused;
    nbody_succeeds(
        "-n 20 --seed 7 --eps 0.25 --dt 2^-6 -G 2 --integrator hermite4 --until 0.125 -q -o first.tab");
    works(particles_read(in_folder("first.tab"), &p));
    assert_true(p.time == 0.125 && particles_number(&p, NOTE_step) == 1. / 64 &&
                particles_number(&p, NOTE_G) == 2);
    assert_string_equal(p.note[NOTE_model], "plummer");
    assert_string_equal(p.note[NOTE_seed], "7");
    assert_non_null(strstr(p.note[NOTE_command], "stdcl nbody -n 20 --seed 7"));
    particles_free(&p);
    nbody_succeeds("-i first.tab --until 0.25 --json -o second.tab");
    json_t *r = nbody_report_json();
    assert_string_equal(json_string_value(json_object_get(r, "integrator")), "hermite4");
    assert_string_equal(json_string_value(json_object_get(r, "model")), "plummer");
    assert_int_equal(json_integer_value(json_object_get(r, "seed")), 7);
    assert_true(json_number_value(json_object_get(r, "eps")) == 0.25);
    assert_true(json_number_value(json_object_get(r, "dt")) == 1. / 64);
    assert_true(json_number_value(json_object_get(r, "G")) == 2);
    assert_true(json_number_value(json_object_get(r, "time")) == 0.25);
    assert_true(json_is_false(json_object_get(r, "interrupted")));
    json_decref(r);
    assert_string_equal(err, "");
    nbody_succeeds("-i first.tab --eps 0.5 --dt 1/64 --integrator leapfrog --steps 1");
    assert_non_null(strstr(
        err,
        "the command line overrides the metadata of first.tab: softening 0.25, integrator hermite4"));
    nbody_succeeds(
        "-n 20 --steps 1 -q -o mixed.tab"); /* a precision that hermite4 and the tree have not */
    nbody_succeeds("-i mixed.tab --integrator hermite4 --steps 1 -q");
    nbody_succeeds("-i mixed.tab --method tree --steps 1 -q");
    nbody_refuses(
        2, "--precision mixed and --integrator hermite4 cannot be combined: mixed precision has no",
        "-i mixed.tab --precision mixed --integrator hermite4 --steps 1 -q");
}

static void nbody_command_runs_backwards(void **unused)
{
    struct particles p, q;
    (void)unused;
    nbody_succeeds("-n 20 --precision double --eps 0.5 --dt 1/64 --until 1 -q -o there.tab");
    nbody_succeeds("-i there.tab --dt -1/64 --until 0 -q -o back.tab");
    nbody_succeeds("-n 20 --steps 0 -q -o origin.tab");
    works(particles_read(in_folder("back.tab"), &p));
    works(particles_read(in_folder("origin.tab"), &q));
    assert_true(p.time == 0);
    for (size_t i = 0; i < 20; i++)
        for (int k = 0; k < 3; k++)
            assert_true(fabs(p.pos[i][k] - q.pos[i][k]) < 1e-6 * (1 + fabs(q.pos[i][k])));
    particles_free(&p);
    particles_free(&q);
    nbody_refuses(2, "give a negative --dt to run backward", "-i there.tab --until 0 -q");
    nbody_refuses(2, "--dt is negative", "-i there.tab --dt -1/64 --until 2 -q");
    nbody_refuses(2, "--dt is 0; give a nonzero step", "-n 8 --dt 0");
    nbody_refuses(2, "--dt: '1/' is not a number", "-n 8 --dt 1/");
    nbody_refuses(2, "--dt: '1/0' is not a finite number", "-n 8 --dt 1/0");
}

/* A run with half the step ends elsewhere: with leapfrog a quarter as far from the run with a
 * quarter of the step. */
static void nbody_command_checks_step_length(void **unused)
{
    double worst[2];
    (void)unused;
    for (int k = 0; k < 2; k++) {
        char line[200];
        snprintf(line, sizeof line, "--ic figure8 --dt %s --until 1.01 --check-step --json",
                 k ? "1/128" : "1/64");
        nbody_succeeds(line);
        json_t *r = nbody_report_json(), *errors = json_object_get(r, "step_errors"),
               *most = json_object_get(errors, "most");
        assert_int_equal(json_array_size(most), 3);
        int seen = 0; /* bodies 1, 2 and 3 */
        for (size_t i = 0; i < 3; i++)
            seen |= 1 << json_integer_value(json_object_get(json_array_get(most, i), "body"));
        assert_int_equal(seen, 2 + 4 + 8);
        worst[k] = json_number_value(json_object_get(json_array_get(most, 0), "distance"));
        assert_true(json_number_value(json_object_get(json_array_get(most, 2), "distance")) <=
                    worst[k]);
        assert_true(json_number_value(json_object_get(errors, "median")) <= worst[k]);
        json_decref(r);
    }
    assert_true(worst[0] > 1e-6 && fabs(worst[0] / worst[1] - 4) < 0.4);
    nbody_succeeds("--ic figure8 --steps 10 --check-step");
    assert_non_null(strstr(out, "step errors   final positions at half the step"));
    nbody_refuses(2, "--check-step", "--compare --check-step");
    nbody_succeeds("-n 100 --steps 2 --dt 1e-9 --precision single");
    assert_non_null(strstr(err, "by less than the rounding error of their coordinates"));
    nbody_succeeds("-n 100 --steps 2 --dt 1/256 --precision single");
    assert_null(strstr(err, "warning"));
    put_text(in_folder("far.tab"), "1 1000 0 0 0 0 0\n1 1001 0 0 0 1 0\n");
    nbody_succeeds("-i far.tab --steps 1 --dt 1/256 --precision single");
    assert_non_null(strstr(err, "the bodies are 2001 times their extent from the origin"));
    nbody_succeeds("-i far.tab --steps 1 --dt 1/256 --precision double");
    assert_null(strstr(err, "warning"));
}

static void nbody_command_names_missing_settings(void **unused)
{
    static const char *const unknown = "# integrator = rk77\n1 0 0 0 0 0 0\n1 1 0 0 0 0 0\n";
    (void)unused;
    put_text(in_folder("unknown.tab"), unknown);
    nbody_refuses(1, "unknown.tab: unknown integrator 'rk77' in its metadata; give --integrator",
                  "-i unknown.tab --steps 1");
    nbody_succeeds("-i unknown.tab --integrator leapfrog --steps 1 -q");
    put_text(in_folder("odd.tab"), "# G = -1\n1 0 0 0 0 0 0\n1 1 0 0 0 0 0\n");
    nbody_refuses(1, "odd.tab: invalid metadata: G is -1; give -G", "-i odd.tab --steps 1");
}

/* ---- Snapshots. ------------------------------------------------------------------------------ */

static void nbody_command_writes_snapshots(void **unused)
{
    (void)unused;
    nbody_succeeds("-n 20 --dt 1/64 --until 1.01 --snapshots 0.3 -o snap-%03d.npy -o last.npy");
    assert_non_null(
        strstr(out, "snapshots     snap-000.npy ... snap-004.npy, with snap-series.csv"));
    load_nbody_file("snap-series.csv", out, sizeof out);
    assert_string_equal(
        out,
        "number,file,time,step\n0,\"snap-000.npy\",0,0\n1,\"snap-001.npy\",0.296875,19\n"
        "2,\"snap-002.npy\",0.59375,38\n3,\"snap-003.npy\",0.90625,58\n4,\"snap-004.npy\",1.01,65\n");
    check_same_bodies_in_files("snap-004.npy", "last.npy");
    nbody_succeeds("-n 20 --dt 1/64 --steps 38 -q -o middle.npy");
    check_same_bodies_in_files("snap-002.npy", "middle.npy"); /* looking changes nothing */
    assert_int_equal(count_files(files_folder, "%"), 0);
}

static void nbody_command_rejects_bad_series(void **unused)
{
    struct statvfs disk;
    char line[200];
    (void)unused;
    nbody_refuses(2, "-o s-%04d.tab is a series of files: add --snapshots TIME",
                  "-n 8 -o s-%04d.tab");
    nbody_refuses(2, "--snapshots needs a name with a number field", "-n 8 --snapshots 1 -o s.tab");
    nbody_refuses(2, "--frames numbers pictures", "-n 8 --snapshots 1 -o s-%04d.png");
    nbody_refuses(2, "the name of a series needs exactly one number field, such as %04d",
                  "-n 8 -o s-%d-%d.tab");
    nbody_refuses(2, "'s-%100d.tab': the name of a series needs exactly one",
                  "-n 8 -o s-%100d.tab");
    nbody_refuses(2, "would share one index", "-n 8 --snapshots 1 -o s-%04d.tab -o s-%d.npy");
    nbody_refuses(2, "'0.001' is shorter than a step, 0.01",
                  "-n 8 --snapshots 1e-3 --dt 0.01 -o s-%04d.tab");
    nbody_refuses(2, "--snapshots: '-1' is not allowed", "-n 8 --snapshots -1 -o s-%04d.tab");
    nbody_refuses(1, "free on the disk of 's-%d.tab'",
                  "-n 10000 --dt 1e-9 --until 1 --snapshots 1e-9 -o s-%d.tab");
    ready(statvfs(files_folder, &disk) == 0 ? &disk
                                            : NULL); /* the disk has room for one of them only */
    snprintf(line, sizeof line,
             "-n 10000 --dt 1/64 --snapshots 1/64 --steps %.0f -o s-a%%d.npy -o s-b%%d.npy",
             0.75 * (double)disk.f_bavail * (double)disk.f_frsize / (10000 * 56));
    nbody_refuses(1, "free on the disk of 's-b%d.npy'", line);
    nbody_refuses(1, "the folder 'none' does not exist", "-n 8 --snapshots 1 -o none/s-%04d.tab");
    assert_int_equal(count_files(files_folder, "s-"), 0);
}

static void nbody_command_writes_hdf5_series(void **unused)
{
    (void)unused;
    if (run_nbody_command("-n 20 --steps 1 -q -o try.hdf5") == 1 && strstr(err, "libhdf5"))
        skip();
    nbody_succeeds("-n 20 --dt 1/64 --until 0.5 --snapshots 0.25 -o 'a&b-%d.hdf5' -q");
    load_nbody_file("a&b-series.xdmf", out, sizeof out);
    assert_non_null(strstr(out, "<Time Value=\"0.25\"/>"));
    assert_non_null(strstr(out, ">a&amp;b-2.hdf5:/PartType1/Velocities</DataItem>"));
    assert_non_null(strstr(out, "Dimensions=\"20 3\""));
    nbody_succeeds("-i 'a&b-1.hdf5' --until 0.5 -o end.hdf5 -q");
    check_same_bodies_in_files("a&b-2.hdf5", "end.hdf5");
    assert_int_equal(count_files(files_folder, "end.xdmf"), 1);
}

/* ---- Ends before the last step. -------------------------------------------------------------- */

static void nbody_command_stops_at_distance(void **unused)
{
    struct particles p;
    (void)unused;
    put_text(in_folder("flyby.tab"), "1 0 0 0 0 0 0\n1e-9 1 0 0 3 0 0\n");
    nbody_succeeds(
        "-i flyby.tab --eps 0 --dt 1/64 --until 100 --precision double --stop-distance 10 -o gone.tab");
    assert_non_null(strstr(out, "stopped"));
    assert_non_null(strstr(out, "body 2 is 10."));
    works(particles_read(in_folder("gone.tab"), &p));
    assert_true(p.pos[1][0] > 10 && p.pos[1][0] < 13 && p.time < 6);
    particles_free(&p);
    nbody_succeeds(
        "-i flyby.tab --eps 0 --dt 1/64 --until 100 --precision double --stop-distance 10 --json");
    json_t *r = nbody_report_json();
    assert_non_null(strstr(json_string_value(json_object_get(r, "stopped")), "--stop-distance 10"));
    assert_true(json_is_false(json_object_get(r, "interrupted")));
    json_decref(r);
}

static void nbody_command_stops_at_energy_and_time(void **unused)
{
    struct particles p;
    (void)unused;
    assert_int_equal(
        run_nbody_command(
            "--ic pythagorean --integrator taylor --dt 0.01 --stop-energy 1e-3 -q -o bad.tab"),
        1);
    assert_non_null(strstr(err, "above --stop-energy 0.001"));
    assert_int_equal(count_files(files_folder, "bad.tab"),
                     1); /* whole, for a look at what went wrong */
    nbody_succeeds("--ic figure8 --until 1e6 --time-limit 0.3 -o late.tab");
    assert_non_null(strstr(out, "the --time-limit of 0.3 s has passed"));
    nbody_succeeds("--ic figure8 --integrator ias15 --dt 1e9 --steps 1 --time-limit 0.3 -o in.tab");
    assert_non_null(strstr(out, "the --time-limit of 0.3 s has passed")); /* within a step */
    works(particles_read(in_folder("in.tab"), &p));
    assert_true(p.time == 0);
    particles_free(&p);
    assert_int_equal(count_files(files_folder, "late.tab"), 1);
}

/* ---- What the system is like. ---------------------------------------------------------------- */

static void nbody_command_writes_structure(void **unused)
{
    (void)unused;
    nbody_succeeds(
        "-n 100 --dt 1/64 --until 0.5 --diag 0.25 --structure s.csv --fractions 0.1,0.5 -q");
    load_nbody_file("s.csv", out, sizeof out);
    assert_int_equal(strncmp(out, "time,kinetic,potential,total,virial_ratio,centre_x,", 51), 0);
    assert_non_null(strstr(
        out,
        ",radius_0.5,mean_mass_0.5,dispersion_radial_0.5,dispersion_tangential_0.5,anisotropy_0.5\n0,"));
    assert_non_null(strstr(out, ",binaries,momentum_x,momentum_y,momentum_z,angular_momentum_x,"));
    assert_non_null(strstr(out, "\n0.25,"));
    assert_non_null(strstr(out, "\n0.5,"));
    nbody_succeeds("--ic figure8 --until 1 --diag 0.5 --structure s.json --elements e.csv -q");
    load_nbody_file("s.json", out, sizeof out);
    json_t *rows = nbody_report_json();
    assert_int_equal(json_array_size(rows), 3);
    assert_true(json_is_array(json_object_get(json_array_get(rows, 2), "orbits")));
    assert_true(fabs(nbody_json_number(json_array_get(rows, 2), "momentum_x")) < 1e-7);
    json_decref(rows);
    load_nbody_file("e.csv", out, sizeof out);
    assert_int_equal(strncmp(out, "time,body,semi_major,eccentricity,", 34), 0);
    for (int k = 0; k < 3; k++) /* at the start, at 0.5 and at the end */
        assert_non_null(strstr(out, (const char *[]){"\n0,3,", "\n0.5,3,", "\n1,3,"}[k]));
    nbody_succeeds("--ic figure8 --until 1 --elements e.csv -q");
    load_nbody_file("e.csv", out, sizeof out);
    assert_null(strstr(out, "\n0,3,"));
    assert_non_null(strstr(out, "\n1,3,"));
    nbody_refuses(2, "give up to 32 ascending numbers above 0",
                  "-n 8 --structure s.csv --fractions 0.5,0.1");
    nbody_refuses(2, "must end in .csv or .json", "-n 8 --structure s.txt");
    nbody_refuses(2, "or use --structure FILE.json", "-n 8 --csv d.json");
    nbody_refuses(2, "'f.json' would be a table of text", "-n 8 --forces f.json");
    nbody_refuses(2, "'e.json' would be a table of text", "-n 8 --elements e.json");
    nbody_refuses(2, "must begin with energy", "-n 8 --plot x.svg");
    nbody_refuses(2, "--fractions needs --structure FILE or --plot FILE", "-n 8 --fractions 0.5");
}

static void nbody_command_draws_figures(void **unused)
{
    (void)unused;
    if (run_nbody_command("-n 100 --until 0.5 --plot energy.svg --plot lagrange.svg") == 1 &&
        strstr(err, "gnuplot"))
        skip();
    assert_non_null(strstr(out, "figure        energy.svg\n"));
    load_nbody_file("energy.svg", out, sizeof out);
    assert_non_null(strstr(out, "<svg"));
    assert_non_null(strstr(out, "relative energy error"));
    assert_non_null(strstr(out, "stdcl nbody -n 100 --until 0.5")); /* the command that made it */
    load_nbody_file("lagrange.svg", out, sizeof out);
    assert_non_null(strstr(out, "50 % of the mass"));
}

/* ---- Distributions at the end. --------------------------------------------------------------- */

/* Plummer's model as the command makes it: G = M = 1, scale 3 pi / 16, 99.9 % of the mass. */
static const double MODEL_MASS = 0.999;

static double plummer_scale(void)
{
    return 3 * acos(-1) / 16;
}

static double plummer_bodies_within(double r)
{
    const double s = r / sqrt(r * r + plummer_scale() * plummer_scale());
    return fmin(1, s * s * s / MODEL_MASS);
}

/* Fraction of bodies slower than v. Within escape speeds q = v / v_escape, the distribution of
 * speeds at a radius is 512/(7 pi) q^2 (1 - q^2)^(7/2) (Aarseth, Henon & Wielen 1974). The midpoint
 * rule over mass and over q. */
static double plummer_bodies_slower(double v)
{
    enum { MASSES = 400, SPEEDS = 200 };
    double sum = 0;
    for (int i = 0; i < MASSES; i++) {
        const double m = MODEL_MASS * (i + 0.5) / MASSES, a = plummer_scale(),
                     r = a / sqrt(pow(m, -2. / 3) - 1), escape = sqrt(2 / sqrt(r * r + a * a)),
                     top = fmin(1, v / escape), width = top / SPEEDS;
        for (int k = 0; k < SPEEDS; k++) {
            const double q = (k + 0.5) * width;
            sum += q * q * pow(1 - q * q, 3.5) * width;
        }
    }
    return sum * 512 / (7 * acos(-1)) / MASSES;
}

/* Check each bin's bodies: within five standard deviations of the model. The bins hold `all`
 * bodies. */
static void check_distribution(const char *file, const char *header, double all,
                               double fraction_below(double), bool volume)
{
    char *text = bytes_of(in_folder(file), NULL);
    double low, high, bodies, mass, value, sum = 0, last = 0;
    int length = 0, rows = 0;
    ready(text);
    assert_int_equal(strncmp(text, header, strlen(header)), 0);
    for (const char *line = text + strlen(header);
         sscanf(line, "%lf,%lf,%lf,%lf,%lf\n%n", &low, &high, &bodies, &mass, &value, &length) == 5;
         line += length, rows++) {
        const double right = all * (fraction_below(high) - fraction_below(low)),
                     width = volume ? 4 * acos(-1) / 3 * (pow(high, 3) - pow(low, 3)) : high - low;
        if (fabs(bodies - right) > 5 * sqrt(right) + 1)
            fail_msg("%s: %g bodies from %g to %g, and not %g", file, bodies, low, high, right);
        assert_true(low == last && fabs(mass * all - bodies) < 1e-9 * all);
        assert_true(fabs(value * width * all - bodies) < 1e-9 * all);
        sum += bodies;
        last = high;
    }
    assert_int_equal(rows, 32);
    assert_true(sum == all);
    free(text);
}

static void nbody_command_tabulates_distributions(void **unused)
{
    (void)unused;
    nbody_succeeds("-n 20000 --steps 0 --plot profile.csv --plot speeds.csv");
    assert_non_null(strstr(out, "figure        profile.csv\n"));
    check_distribution("profile.csv", "radius_low,radius_high,bodies,mass,density\n", 20000,
                       plummer_bodies_within, true);
    check_distribution("speeds.csv", "speed_low,speed_high,bodies,mass,distribution\n", 20000,
                       plummer_bodies_slower, false);
    nbody_succeeds("--ic figure8 --steps 1 --plot profile.csv -q"); /* one ball */
    load_nbody_file("profile.csv", out, sizeof out);
    assert_string_equal(strchr(strchr(out, '\n') + 1, '\n'), "\n");
    nbody_refuses(2, "energies, lagrange, profile or speeds", "-n 8 --plot density.svg");
    nbody_refuses(2, "must end in .svg, .png, .pdf or, for a table, .csv",
                  "-n 8 --plot profile.eps");
    nbody_refuses(2, ".svg, .png or .pdf", "-n 8 --plot lagrange.csv");
    if (run_nbody_command("-n 500 --steps 1 --plot profile.svg --plot speeds.svg") == 1 &&
        strstr(err, "gnuplot"))
        return;
    check_file_has("profile.svg", ">mass density<");
    check_file_has("speeds.svg", ">fraction of the bodies per unit of speed<");
}

/* Equal radii give one ball or no outer shell, equal speeds one full bin; at the centre or at rest
 * there is no distribution. Forty bodies lie on a circle of radius 1. */
static void nbody_command_tabulates_equal_radii(void **unused)
{
    char bodies[41 * 80] = "";
    double low, high, number, mass, density;
    (void)unused;
    nbody_refuses(1, "largest radius about the density centre is 0", "-n 1 --plot profile.csv -q");
    nbody_refuses(1, "largest speed is 0", "-n 1 --steps 1 --plot speeds1.csv -q");
    assert_int_equal(access(in_folder("speeds1.csv"), F_OK), -1);
    for (int i = 0; i < 40; i++)
        snprintf(bodies + strlen(bodies), 80, "0.025 %.17g %.17g 0 3 0 0\n", cos(acos(-1) * i / 20),
                 sin(acos(-1) * i / 20));
    put_text(in_folder("circle.tab"), bodies);
    nbody_succeeds("-i circle.tab --steps 0 --plot profile.csv --plot speeds.csv -q");
    load_nbody_file("profile.csv", out, sizeof out);
    assert_int_equal(
        sscanf(strchr(out, '\n'), "%lf,%lf,%lf,%lf,%lf", &low, &high, &number, &mass, &density), 5);
    assert_true(low == 0 && fabs(high - 1) < 1e-6 && number == 40);
    assert_true(fabs(density - 3 / (4 * acos(-1))) < 1e-5);
    load_nbody_file("speeds.csv", out, sizeof out);
    assert_null(strstr(out, "nan"));
    assert_null(strstr(out, "inf"));
    assert_non_null(strstr(out, ",40,"));
}

/* Fail unless a run with one output to a full disk names it once, and reports and writes `kept`. */
static void check_kept(const char *failed, const char *kept, const char *arguments)
{
    const int status = run_nbody_command(arguments);
    const char *message = strstr(err, "the disk is full");
    if (status != 1 || !message || strstr(message + 1, "the disk is full") ||
        !strstr(err, failed) || strstr(out, failed) || !strstr(out, kept) ||
        access(in_folder(kept), R_OK) < 0)
        fail_msg("stdcl nbody %s: status %d, without %s or with %s\n%s%s", arguments, status, kept,
                 failed, out, err);
    unlink(in_folder(kept));
}

/* An output that fails loses neither later outputs nor the report. */
static void nbody_command_keeps_outputs_after_a_failed_one(void **unused)
{
    static const char *const full[] = {"full.tab", "full.csv", "full-0002.png"};
    (void)unused;
    if (access("/dev/full", W_OK) < 0)
        skip();
    for (size_t i = 0; i < sizeof full / sizeof *full; i++)
        works(symlink("/dev/full", in_folder(full[i])));
    put_text(in_folder("star.tab"), "1 0 0 0 0 0 0\n0.001 1 0 0 0 1 0\n");
    check_kept("full.tab", "kept.csv", "-n 30 --steps 3 -o full.tab --csv kept.csv");
    check_kept("full.csv", "kept.tab", "-n 30 --steps 3 --csv full.csv -o kept.tab");
    check_kept("full.csv", "kept.tab", "-n 30 --steps 3 --structure full.csv -o kept.tab");
    check_kept("full.csv", "kept.csv", "-n 30 --steps 3 --structure full.csv --elements kept.csv");
    check_kept("full.tab", "kept.csv",
               "-i star.tab --ensemble 4 --dt 0.1 --steps 3 -o full.tab --csv kept.csv");
    if (run_nbody_command("-n 3 --steps 1 -q -o try.png") == 0)
        check_kept("full-0002.png", "kept.tab",
                   "-n 30 --steps 3 -o full.png --frames 4 --size 64 -o kept.tab");
}

/* A checkpoint that fails at the end loses neither the outputs nor the report, and is named once as
 * an error. The report names a checkpoint that was written. */
static void nbody_command_keeps_outputs_after_failed_checkpoint(void **unused)
{
    static const char *const run[] = {
        "-n 200 --method direct --steps 3 --checkpoint c.ckpt --csv kept.csv",
        "-n 200 --method direct --dt 1/64 --until 0.04 --checkpoint c.ckpt --csv kept.csv",
        "-i star.tab --ensemble 100 --dt 0.1 --steps 3 --checkpoint c.ckpt --csv kept.csv "
        "--systems 1,2"};
    (void)unused;
    if (access("/dev/full", W_OK) < 0)
        skip();
    put_text(in_folder("star.tab"), "1 0 0 0 0 0 0\n0.001 1 0 0 0 1 0\n");
    for (size_t i = 0; i < sizeof run / sizeof *run; i++) {
        works(symlink("/dev/full", in_folder("c.ckpt")));
        check_kept("nbody: checkpoint not written: c.ckpt: the disk", "kept.csv", run[i]);
        assert_null(strstr(out, "c.ckpt"));
        works(unlink(in_folder("c.ckpt")));
        nbody_succeeds(run[i]);
        assert_non_null(strstr(out, i == 1 ? "c.ckpt, of step 2" : "c.ckpt, of step 3"));
        works(unlink(in_folder("c.ckpt")));
    }
}

/* A snapshot that fails ends its series, but not the run or another series. */
static void nbody_command_continues_after_failed_snapshot(void **unused)
{
    (void)unused;
    if (access("/dev/full", W_OK) < 0)
        skip();
    works(symlink("/dev/full", in_folder("part-001.tab")));
    check_kept("part-001.tab", "kept.csv",
               "-n 30 --dt 1/64 --steps 4 --snapshots 1/64 -o part-%03d.tab -o whole-%03d.tab "
               "--csv kept.csv -o end.tab");
    assert_int_equal(count_files(files_folder, "part-0"), 2);
    assert_int_equal(count_files(files_folder, "whole-0"), 5);
    load_nbody_file("end.tab", out, sizeof out);
    check_file_has("whole-004.tab", strrchr(out, '#'));
    put_text(in_folder("star.tab"), "1 0 0 0 0 0 0\n0.001 1 0 0 0 1 0\n");
    works(symlink("/dev/full", in_folder("all-001.tab")));
    check_kept("all-001.tab", "kept.csv",
               "-i star.tab --ensemble 4 --dt 1/64 --steps 4 --snapshots 1/64 -o all-%03d.tab "
               "--csv kept.csv");
    assert_int_equal(count_files(files_folder, "all-0"), 2);
    /* A checkpoint of an ensemble keeps the files of each series. */
    works(unlink(in_folder("all-000.tab")));
    for (int first = 0; first < 2; first++)
        for (int steps = 4; steps <= 8; steps += 4) {
            char line[512], resume[32] = "";
            if (steps > 4)
                snprintf(resume, sizeof resume, "--resume series%d.ckpt", first);
            snprintf(line, sizeof line,
                     "-i star.tab --ensemble 4 --dt 1/64 --steps %d --snapshots 1/64 "
                     "-o %s-%%03d.tab -o %s-%%03d.tab --checkpoint series%d.ckpt %s --csv kept.csv",
                     steps, first ? "both" : "all", first ? "all" : "each", first, resume);
            check_kept("all-001.tab", "kept.csv", line);
            assert_int_equal(count_files(files_folder, first ? "both-0" : "each-0"), steps + 1);
        }
}

/* ---- HDF5. ----------------------------------------------------------------------------------- */

#define SMALL_FILES "trap '' XFSZ; ulimit -f 8;"

/* A file-size limit stands for a full disk. libhdf5 cannot close the file, and must not try again
 * at exit. */
static void nbody_command_ends_after_failed_hdf5(void **unused)
{
    (void)unused;
    if (run_nbody_command("-n 8 --steps 0 -o small.hdf5") != 0)
        skip(); /* built without libhdf5 */
    put_text(in_folder("big.hdf5"), "old");
    variables = SMALL_FILES;
    nbody_refuses(1, "big.hdf5: cannot be written", "-n 100 --steps 0 -o big.hdf5 -q");
    variables = "";
    holds_text(in_folder("big.hdf5"), "old");
}

/* A file which is no library hides libhdf5. */
static void nbody_command_opens_libhdf5_before_steps(void **unused)
{
    char line[2 * PATH_MAX];
    (void)unused;
    snprintf(line, sizeof line,
             "cd '%s' && for l in $(grep -aoE 'libhdf5[a-z_]*[.]so[.][0-9]+' '%s'); do "
             "echo none >$l; done",
             files_folder, command);
    assert_int_equal(system(line), 0);
    if (count_files(files_folder, "libhdf5") == 0)
        skip(); /* linked, or built without it */
    variables = "LD_LIBRARY_PATH=.";
    nbody_refuses(1, "'x.hdf5' cannot be written: the library libhdf5",
                  "-n 8 --until 1e9 --dt 1e-3 -o x.hdf5");
    variables = "";
}

/* ---- Figures with axes. ---------------------------------------------------------------------- */

/* Few bodies have names and paths, many a bar of density; --units names units and sets G, so that
 * the Earth returns after a year. */
static void nbody_command_draws_axes(void **unused)
{
    (void)unused;
    if (run_nbody_command("--ic solar --until 365.25 --units au,day,msun --figure s.svg") == 1 &&
        strstr(err, "gnuplot"))
        skip();
    assert_non_null(strstr(out, "figure        s.svg\n"));
    check_file_has("s.svg", "11 bodies, t = 365.2 day");
    check_file_has("s.svg", ">x [au]<");
    check_file_has("s.svg", ">Neptune<");
    put_text(in_folder("earth.tab"), "1 0 0 0 0 0 0\n3e-6 1 0 0 0 0.01720209895 0\n");
    nbody_succeeds("-i earth.tab --units au,day,msun --until 365.2568 --integrator ias15 --json");
    json_t *report = nbody_report_json();
    assert_true(nbody_json_number(report, "G") == 0.00029591220828559115);
    const json_t *units = json_object_get(report, "units");
    assert_string_equal(json_string_value(json_object_get(units, "G")), "au (au/day)^2/msun");
    assert_string_equal(json_string_value(json_object_get(units, "time")), "day");
    assert_string_equal(json_string_value(json_object_get(units, "energy_end")), "msun au^2/day^2");
    json_decref(report);
    nbody_succeeds("-n 2000 --steps 0 -G 0.00430091 -q -o cluster.tab");
    nbody_succeeds("-i cluster.tab --steps 1 --units pc,km/s,msun --paper black --figure d.svg");
    assert_non_null(strstr(out, "units         pc, pc/(km/s) and msun: G is 0.0043"));
    check_file_has("d.svg", ">surface density [msun/pc^2]<");
    nbody_succeeds("-i cluster.tab --steps 1 --units pc,km/s,msun --colour-by speed "
                   "--figure v.svg -q");
    check_file_has("v.svg", ">speed [km/s]<");
    nbody_refuses(2, "'mile' is no unit of length", "-n 8 --units mile,day,msun --steps 1");
    nbody_refuses(2, "--paper needs", "-n 8 --paper black --steps 1");
    nbody_refuses(2, ".svg, .png or .pdf", "-n 8 --figure x.jpg --steps 1");
}

/* Return the largest relative deviation, of points of the paths and of the middles between them,
 * from a circle. `svg` begins at a path "M783.88,419.13 L783.71,409.13 ...". */
static double deviation_of_path(const char *svg, double x, double y, double radius)
{
    double u = 0, v = 0, worst = 0;
    int points = 0;
    for (const char *c = svg; *c && *c != '\''; c++) {
        double a, b;
        if ((*c != 'M' && *c != 'L') || sscanf(c + 1, "%lf,%lf", &a, &b) != 2)
            continue;
        worst = fmax(worst, fabs(hypot(a - x, b - y) / radius - 1));
        if (points++)
            worst = fmax(worst, fabs(hypot((a + u) / 2 - x, (b + v) / 2 - y) / radius - 1));
        u = a;
        v = b;
    }
    assert_true(points > 100);
    return worst;
}

/* A circular orbit of twelve steps is a circle: straight lines are off by 1 - cos 15 degrees,
 * 3.4 %. The Sun stands still at the origin, and the planet begins to its right. */
static void nbody_command_draws_curved_paths(void **unused)
{
    (void)unused;
    double x, y, right, same;
    put_text(in_folder("circle.tab"), "1 0 0 0 0 0 0\n1e-9 1 0 0 0 1 0\n");
    if (run_nbody_command("-i circle.tab -G 1 --dt 0.5235987755982988 --steps 12 "
                          "--integrator ias15 --figure circle.svg -q") == 1 &&
        strstr(err, "gnuplot"))
        skip();
    load_nbody_file("circle.svg", out, sizeof out);
    const char *sun = strstr(out, "'rgb( 68, 119, 170)'  d='M");
    const char *planet = strstr(out, "'rgb(238, 102, 119)'  d='M");
    assert_non_null(sun);
    assert_non_null(planet);
    assert_int_equal(sscanf(strchr(sun, 'M') + 1, "%lf,%lf", &x, &y), 2);
    assert_int_equal(sscanf(strchr(planet, 'M') + 1, "%lf,%lf", &right, &same), 2);
    assert_true(deviation_of_path(strchr(planet, 'M'), x, y, right - x) < 2e-3);
}

/* The ends of a path of SVG: least and greatest x, and y. */
static void measure_path(const char *path, double x[2], double y[2])
{
    double a, b;
    x[0] = y[0] = INFINITY;
    x[1] = y[1] = -INFINITY;
    for (const char *c = path; *c && *c != '/'; c++)
        if ((*c == 'M' || *c == 'L') && sscanf(c + 1, "%lf,%lf", &a, &b) == 2) {
            x[0] = fmin(x[0], a);
            x[1] = fmax(x[1], a);
            y[0] = fmin(y[0], b);
            y[1] = fmax(y[1], b);
        }
}

/* A comet at its pericentre, 1/2 from the Sun, with a speed of sqrt(3): half axes 1 and
 * sqrt(3)/2. The Sun is at (0, 0), 3/4 of the way from the apocentre to the pericentre. An unbound
 * body has no orbit. */
static void nbody_command_draws_osculating_orbits(void **unused)
{
    (void)unused;
    double x[2], y[2], sun, same;
    put_text(in_folder("comet.tab"),
             "1 0 0 0 0 0 0\n1e-12 0.5 0 0 0 1.7320508075688772 0\n1e-12 0 1 0 2 0 0\n");
    if (run_nbody_command("-i comet.tab -G 1 --steps 0 --osculating --figure comet.svg -q") == 1 &&
        strstr(err, "gnuplot"))
        skip();
    load_nbody_file("comet.svg", out, sizeof out);
    const char *star = strstr(out, "'rgb( 68, 119, 170)'  d='M");
    const char *comet = strstr(out, "'rgb(238, 102, 119)'  d='M");
    const char *passing = strstr(out, "'rgb( 34, 136,  51)'  d='M");
    assert_non_null(star);
    assert_non_null(comet);
    assert_non_null(passing);
    assert_int_equal(sscanf(strchr(star, 'M') + 1, "%lf,%lf", &sun, &same), 2);
    measure_path(strchr(comet, 'M'), x, y);
    assert_true(fabs((y[1] - y[0]) / (x[1] - x[0]) - sqrt(0.75)) < 2e-3);
    assert_true(fabs((sun - x[0]) / (x[1] - x[0]) - 0.75) < 2e-3);
    measure_path(strchr(passing, 'M'), x, y);
    assert_true(x[1] - x[0] < 0.5 && y[1] - y[0] < 0.5);
    nbody_refuses(2, "orbits of up to 64 are drawn",
                  "--ic plummer -n 65 --steps 0 --osculating "
                  "--figure comet.svg");
}

/* Two bodies fly from x = -1 and 1 to -10 and 10. The frame of the first picture ends before 2; the
 * last is wider, unless --extent fixes it. */
static void nbody_command_widens_frame(void **unused)
{
    (void)unused;
    put_text(in_folder("apart.tab"), "1e-9 1 0 0 1 0 0\n1e-9 -1 0 0 -1 0 0\n");
    if (run_nbody_command(
            "-i apart.tab --until 9 --dt 0.1 --frames 4 -o w.png --figure w.svg -q") == 1 &&
        (strstr(err, "gnuplot") || strstr(err, "libpng")))
        skip();
    load_nbody_file("w.svg", out, sizeof out);
    assert_non_null(strstr(out, ">10<"));
    nbody_succeeds("-i apart.tab --until 9 --dt 0.1 --frames 4 -o w.png --figure w.svg -q "
                   "--extent 3");
    load_nbody_file("w.svg", out, sizeof out);
    assert_null(strstr(out, ">10<"));
    assert_non_null(strstr(out, ">1<"));
}

/* --units sets the G of a file that has none. A different G and models are refused. */
static void nbody_command_checks_units(void **unused)
{
    (void)unused;
    put_text(in_folder("sun.tab"), "1 0 0 0 0 0 0\n0 1 0 0 0 6.283185 0\n");
    nbody_succeeds("-i sun.tab --units au,yr,msun --dt 1 --until 1 -o year.tab");
    assert_non_null(strstr(out, "units         au, yr and msun: G is 39.4769264\n"));
    nbody_succeeds("-i year.tab --units au,yr,msun --dt 1 --until 2 --checkpoint u.ckpt");
    assert_int_equal(*err, 0);
    nbody_succeeds("--resume u.ckpt --until 3");
    assert_non_null(strstr(out, "units         au, yr and msun: G is 39.4769264\n"));
    nbody_refuses(2, "but -G gives 1; omit -G", "-i sun.tab -G 1 --units au,day,msun --steps 1");
    nbody_refuses(1, "solar.tab: its G is 0.000295912208, but --units au, yr and msun have 39.4769",
                  "--ic solar --units au,yr,msun --steps 1");
    nbody_refuses(2, "--units needs -i FILE or --ic solar: other models have units of their own",
                  "-n 8 --units pc,km/s,msun --steps 1");
    nbody_refuses(2, "--units needs", "--ic figure8 --units au,yr,msun --steps 1");
}

/* ---- Cameras. -------------------------------------------------------------------------------- */

static void same_files(const char *a, const char *b, bool same)
{
    size_t size[2];
    char *bytes[2] = {bytes_of(in_folder(a), &size[0]), bytes_of(in_folder(b), &size[1])};
    ready(bytes[0]);
    ready(bytes[1]);
    const bool equal = size[0] == size[1] && memcmp(bytes[0], bytes[1], size[0]) == 0;
    if (equal != same)
        fail_msg("%s and %s are %s", a, b, equal ? "equal" : "different");
    free(bytes[0]);
    free(bytes[1]);
}

/* The last frame of a run has the orbits at its end: it is the picture of the final bodies. */
static void nbody_command_frames_osculating_orbits(void **unused)
{
    (void)unused;
    put_text(in_folder("circle.tab"), "1 0 0 0 0 0 0\n1e-6 1 0 0 0 1.2 0\n");
    if (run_nbody_command("-i circle.tab -G 1 --eps 0 --integrator ias15 --dt 0.01 --steps 200 "
                          "--osculating --frames 2 --extent 4 --size 200x200 -o oscul.png "
                          "-o ends.npy -q") == 1 &&
        strstr(err, "libpng"))
        skip();
    assert_int_equal(run_nbody_command("-i ends.npy -G 1 --eps 0 --integrator ias15 --dt 0.01 "
                                       "--steps 0 --osculating --extent 4 --size 200x200 "
                                       "-o still.png -q"),
                     0);
    same_files("oscul-0002.png", "still.png", true);
}

/* A camera that orbits by 90 degrees begins as one that stands, and ends as one that stands at 90
 * degrees; one that approaches twice ends with twice the magnification. */
static void nbody_command_moves_camera(void **unused)
{
    static const char bodies[] = "1 1 0 0 0 0 0\n1 -1 0 0 0 0 0\n";
    (void)unused;
    put_text(in_folder("two.tab"), bodies);
#define FRAMES "-i two.tab --steps 4 --dt 1e-6 --frames 3 --trails 0 --size 64 -q -o "
    nbody_succeeds(FRAMES "stands.png");
    nbody_succeeds(FRAMES "turned.png --azimuth 90");
    nbody_succeeds(FRAMES "near.png --zoom 2");
    nbody_succeeds(FRAMES "orbit.png --orbit 90");
    nbody_succeeds(FRAMES "approach.png --approach 2");
    same_files("orbit-0001.png", "stands-0001.png", true);
    same_files("orbit-0002.png", "stands-0002.png", false);
    same_files("orbit-0003.png", "turned-0003.png", true);
    same_files("approach-0001.png", "stands-0001.png", true);
    same_files("approach-0003.png", "near-0003.png", true);
    nbody_refuses(2, "--orbit needs a picture", "-n 8 --steps 1 --orbit 90");
}

static void nbody_command_draws_pictures(void **unused)
{
    (void)unused;
    nbody_refuses(2, "--azimuth needs a picture", "-n 8 --azimuth 10");
    nbody_refuses(2, "give one of nothing, mass, density, heaviest", "-n 8 --follow me -o a.png");
    nbody_refuses(2, "--elevation: '91' is out of range", "-n 8 --elevation 91 -o a.png");
    if (run_nbody_command("-n 100 --steps 2 --size 64 -o usual.png -q") == 1 &&
        strstr(err, "libpng"))
        skip();
    nbody_succeeds(
        "-n 100 --steps 2 --size 64 -o same.png -q --azimuth 0 --elevation 90 --zoom 1 --follow nothing");
    check_same_file_bytes("usual.png", "same.png", true);
    nbody_succeeds(
        "-n 100 --steps 2 --size 64 -o side.png -q --azimuth 30 --elevation 10 --zoom 2 --follow density --caption");
    check_same_file_bytes("usual.png", "side.png", false);
    nbody_succeeds("-n 100 --steps 2 --size 64 -o fast.png -q --colour-by speed");
    check_same_file_bytes("usual.png", "fast.png", false);
    nbody_succeeds(
        "--ic figure8 --size 64 --until 1 -o three.png -q --colour-by group --groups 1,1,1");
    nbody_refuses(2, "the bodies form one group", "-n 8 --steps 1 --colour-by group -o a.png");
    nbody_refuses(2, "the groups have 7 bodies in total, but there are 8",
                  "-n 8 --steps 1 --colour-by group --groups 3,4 -o a.png");
    nbody_refuses(2, "give up to 8 whole numbers of bodies",
                  "-n 8 --colour-by group --groups 3,x -o a.png");
    nbody_refuses(2, "--groups needs --colour-by group", "-n 8 --groups 4,4 -o a.png");
    nbody_succeeds("--ic figure8 --size 64 --until 1 -o eight.png -q");
    nbody_succeeds("--ic figure8 --size 64 --until 1 -o dots.png -q --trails 0");
    check_same_file_bytes("eight.png", "dots.png", false);
}

static void nbody_command_reports_three_digits(void **unused)
{
    (void)unused;
    put_text(in_folder("moving.tab"), "1 0 0 0 0 0.5 0\n1 1 0 0 0 -0.3 0\n");
    nbody_succeeds("-i moving.tab --steps 0");
    assert_non_null(strstr(out, "\nmomentum      0 0.200 0\n"));
    assert_non_null(strstr(out, "\nang. momentum 0 0 -0.300\n"));
}

int main(int argc, char **argv)
{
    struct CMUnitTest tests[] = {
        cmocka_unit_test(nbody_files_keep_settings),
        cmocka_unit_test(nbody_command_runs_backwards),
        cmocka_unit_test(nbody_command_checks_step_length),
        cmocka_unit_test(nbody_command_names_missing_settings),
        cmocka_unit_test(nbody_command_writes_snapshots),
        cmocka_unit_test(nbody_command_rejects_bad_series),
        cmocka_unit_test(nbody_command_writes_hdf5_series),
        cmocka_unit_test(nbody_command_stops_at_distance),
        cmocka_unit_test(nbody_command_stops_at_energy_and_time),
        cmocka_unit_test(nbody_command_writes_structure),
        cmocka_unit_test(nbody_command_tabulates_distributions),
        cmocka_unit_test(nbody_command_tabulates_equal_radii),
        cmocka_unit_test(nbody_command_keeps_outputs_after_a_failed_one),
        cmocka_unit_test(nbody_command_keeps_outputs_after_failed_checkpoint),
        cmocka_unit_test(nbody_command_continues_after_failed_snapshot),
        cmocka_unit_test(nbody_command_ends_after_failed_hdf5),
        cmocka_unit_test(nbody_command_opens_libhdf5_before_steps),
        cmocka_unit_test(nbody_command_draws_figures),
        cmocka_unit_test(nbody_command_draws_axes),
        cmocka_unit_test(nbody_command_draws_curved_paths),
        cmocka_unit_test(nbody_command_draws_osculating_orbits),
        cmocka_unit_test(nbody_command_frames_osculating_orbits),
        cmocka_unit_test(nbody_command_widens_frame),
        cmocka_unit_test(nbody_command_checks_units),
        cmocka_unit_test(nbody_command_moves_camera),
        cmocka_unit_test(nbody_command_draws_pictures),
        cmocka_unit_test(nbody_command_reports_three_digits),
    };
    if (argc != 2)
        return fprintf(stderr, "usage: test_nbody_files PATH_OF_STDCL\n"), 2;
    command = argv[1];
    return sampled_run("files", tests, 0, 2, files_create, files_remove);
}
