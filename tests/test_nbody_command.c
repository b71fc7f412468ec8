/* test_nbody_command.c - `stdcl nbody` beyond plain gravity: fields of force, per-body
 * softening, mergers, ensembles of planetary systems.
 *
 *   test_nbody_command PATH_OF_STDCL
 * SPDX-License-Identifier: MIT
 */
#include "nbody_command.h"
#include "deep.h"
#include "pocl.h"

#include "formats/particles.h"

#include <math.h>

/* Fail if bodies of two files differ by more than `most`. */
static void assert_near_bodies(const char *one, const char *two, double most)
{
    struct particles p[2];
    works(particles_read(in_folder(one), &p[0]));
    works(particles_read(in_folder(two), &p[1]));
    assert_int_equal(p[0].n, p[1].n);
    for (size_t k = 0; k < 3 * p[0].n; k++) {
        assert_true(fabs(p[0].pos[k / 3][k % 3] - p[1].pos[k / 3][k % 3]) <= most);
        assert_true(fabs(p[0].vel[k / 3][k % 3] - p[1].vel[k / 3][k % 3]) <= most);
    }
    particles_free(&p[0]);
    particles_free(&p[1]);
}

static void assert_equal_bodies(const char *one, const char *two)
{
    assert_near_bodies(one, two, 0);
}

/* ---- Fields. --------------------------------------------------------------------------------- */

/* A massless body circles a point mass, and the file records the field. */
static void nbody_command_runs_in_field(void **unused)
{
    struct particles p;
    (void)unused;
    put_text(in_folder("one.tab"), "0 1 0 0 0 1 0\n");
    nbody_succeeds(
        "-i one.tab --external point:0.75 --external point:0.25 --dt 2^-7 --until 6.283185307179586 --integrator hermite4 "
        "--precision double --json -o circled.tab");
    json_t *r = nbody_report_json();
    assert_string_equal(json_string_value(json_object_get(r, "external")), "point:0.75 point:0.25");
    json_decref(r);
    works(particles_read(in_folder("circled.tab"), &p));
    assert_string_equal(p.note[NOTE_external], "point:0.75 point:0.25");
    assert_true(fabs(p.pos[0][0] - 1) < 1e-8 && fabs(p.pos[0][1]) < 1e-8);
    particles_free(&p);
    nbody_succeeds("-i circled.tab --steps 1 -o on.tab");
    assert_non_null(strstr(out, "\nexternal      point:0.75 point:0.25\n"));
    nbody_succeeds("-i circled.tab --steps 1 --external none");
    assert_null(strstr(out, "external"));
    assert_non_null(strstr(err, "circled.tab: external point:0.75 point:0.25"));
    nbody_refuses(2, "give --dt", "-i one.tab --external point:1");
    nbody_succeeds("-i one.tab --external point:1 --steps 0 --forces one.csv");
    load_nbody_file("one.csv", out, sizeof out);
    assert_non_null(strstr(out, "\n0,-0,0,0,-1,0,0,-1\n"));
    nbody_refuses(2, "'plummer:1' is not a field", "-n 8 --external plummer:1");
    nbody_refuses(2, "'logarithmic:1,0' is not a field", "-n 8 --external logarithmic:1,0");
    nbody_refuses(2, "'point:1,2' is not a field", "-n 8 --external point:1,2");
    nbody_refuses(2, "--compare and --external", "-n 8 --compare --external point:1");
}

/* Forces with named parameters, and a file: drag, resumed runs with equal bits, metadata, and bad
 * input. */
static void nbody_command_adds_forces(void **unused)
{
    struct particles p;
    (void)unused;
    const char *const drag =
        "-i one.tab --dt 1/8 --external drag.cl:gamma=0.5 --external nfw:M=1e-9,a=1";
    char line[256];
    put_text(in_folder("one.tab"), "0 1 0 0 0 1 0\n");
    put_text(in_folder("drag.cl"),
             "real3 force(real3 position, real3 velocity, real mass, real time, uint index)\n"
             "{\n    return -gamma * velocity;\n}\n");
    snprintf(line, sizeof line, "%s --until 2 -q --precision double -o whole.tab", drag);
    nbody_succeeds(line);
    works(particles_read(in_folder("whole.tab"), &p));
    assert_string_equal(p.note[NOTE_external], "drag.cl:gamma=0.5 nfw:M=1e-9,a=1");
    assert_true(fabs(p.pos[0][1] - (1 - exp(-1.)) / 0.5) < 1e-3);
    particles_free(&p);
    snprintf(line, sizeof line,
             "%s --until 1 -q --precision double -o part.tab --checkpoint d.ckpt", drag);
    nbody_succeeds(line);
    nbody_succeeds("--resume d.ckpt --until 2 -q -o part.tab");
    struct particles whole;
    works(particles_read(in_folder("whole.tab"), &whole));
    works(particles_read(in_folder("part.tab"), &p));
    assert_memory_equal(whole.pos, p.pos, sizeof *p.pos);
    assert_string_equal(p.note[NOTE_external], "drag.cl:gamma=0.5 nfw:M=1e-9,a=1");
    particles_free(&whole);
    particles_free(&p);
    put_text(in_folder("two.tab"), "1 0 0 0 0 0 0\n0 1 0 0 0 1 0\n");
    nbody_succeeds("-i two.tab --external relativity:c=1000 --until 10 --json");
    json_t *const r = nbody_report_json();
    assert_string_equal(json_string_value(json_object_get(r, "integrator")), "ias15");
    assert_string_equal(json_string_value(json_object_get(r, "external")), "relativity:c=1000");
    json_decref(r);
    put_text(in_folder("two.tab"), "1 0 0 0 0 0 0\n1e-3 1 0 0 0 1 0\n");
    nbody_succeeds("-i two.tab --external drag.cl:gamma=2 --until 1");
    assert_null(strstr(err, "inaccurate")); /* drag takes energy */
    nbody_succeeds("-i two.tab --external drag.cl:gamma=1e-3 --integrator leapfrog --dt 1/64 "
                   "--until 10 -q --event apsis:all --events apsides.csv");
    nbody_succeeds("-i two.tab --external mass-loss:tau=9 --until 1 -q -o later.tab");
    nbody_succeeds("-i later.tab --until 2 -q");
    assert_null(strstr(err, "warning")); /* forces go on from time 1 */
    nbody_refuses(2, "force nfw needs the parameter a=NUMBER",
                  "-i one.tab --dt 1 --external nfw:M=1");
    nbody_refuses(2, "there is no force 'nwf'", "-i one.tab --dt 1 --external nwf:M=1");
    nbody_refuses(2, "hermite4 needs derivatives",
                  "-i one.tab --dt 1 --integrator hermite4 --external nfw:M=1,a=1");
    nbody_refuses(1, "missing.cl: No such file", "-i one.tab --dt 1 --external missing.cl");
    nbody_refuses(2, "--collide merge renumbers bodies",
                  "-i two.tab --dt 1 --collide merge --radius 0 --external drag.cl:gamma=1");
    assert_int_equal(run_nbody_command("-i one.tab --dt 1 --external drag.cl"), 1);
    assert_non_null(strstr(err, "force drag.cl:3"));
    assert_non_null(strstr(err, "gamma"));
}

/* A run in a field resumes with equal bits, and only in the same field. */
/* Forces that depend on time count it from 0, not from the start of a run: two runs make one. */
static void nbody_command_keeps_time_of_forces(void **unused)
{
    (void)unused;
    put_text(in_folder("late.tab"), "# time = 5\n1 0 0 0 0 0 0\n1e-3 1 0 0 0 1 0\n");
    put_text(in_folder("wind.cl"),
             "real3 force(real3 position, real3 velocity, real mass, real time, uint index)\n"
             "{\n    return (real3)(C(0.0), C(0.0), time);\n}\n");
    const char *const forces[] = {"orbit:M=0.1,centre=1,a=6,l=1", "wind.cl"};
    for (int k = 0; k < 2; k++) {
        char line[256];
        snprintf(line, sizeof line,
                 "-i late.tab --external %s --integrator leapfrog --dt 1/64 --precision double -q ",
                 forces[k]);
        char first[512];
        snprintf(first, sizeof first, "%s --until 7 -o whole.npy --csv t.csv", line);
        nbody_succeeds(first);
        assert_null(strstr(err, "warning"));
        snprintf(first, sizeof first, "%s --until 6 -o half.tab --checkpoint h.ckpt", line);
        nbody_succeeds(first);
        nbody_succeeds("-i half.tab --until 7 -q -o two.npy");
        assert_equal_bodies("whole.npy", "two.npy");
        nbody_succeeds("--resume h.ckpt --until 7 -q -o two.npy");
        assert_equal_bodies("whole.npy", "two.npy");
    }
    /* v gains the integral of t from 5 to 7 */
    struct particles p;
    works(particles_read(in_folder("whole.npy"), &p));
    assert_true(fabs(p.vel[0][2] - 12) < 1e-2);
    particles_free(&p);
}

/* Options beside --resume are judged by the run, and a changed force is refused. */
static void nbody_command_resume_judges_by_run(void **unused)
{
    (void)unused;
    put_text(in_folder("s.tab"), "# integrator = trace\n1 0 0 0 0 0 0\n1e-3 1 0 0 0 1 0\n");
    nbody_succeeds(
        "-i s.tab --dt 0.1 --steps 3 --checkpoint s.ckpt -q --event apsis:all --events e.csv");
    nbody_succeeds("--resume s.ckpt --steps 4 -q --events g.csv");
    free(bytes_of(in_folder("g.csv"), NULL));
    nbody_succeeds("--resume s.ckpt --steps 5 -q --external none");
    nbody_refuses(2, "different values of --hill;", "--resume s.ckpt --steps 9 --hill 5");
    nbody_refuses(2, "--integrator trace and --external nfw:M=1,a=1 cannot be combined",
                  "-i s.tab --dt 1 --integrator trace --external nfw:M=1,a=1");
    nbody_refuses(2, "--coordinates needs", "--resume s.ckpt --coordinates heliocentric");
    nbody_succeeds("-n 8 --dt 0.01 --steps 3 --checkpoint s.ckpt -q --external nfw:M=1,a=2");
    nbody_refuses(2, "--events needs --event", "--resume s.ckpt --steps 9 --events e.csv");
    nbody_refuses(2, "different values of --external;",
                  "--resume s.ckpt --steps 9 --external none");
    put_text(in_folder("v.cl"),
             "real3 force(real3 position, real3 velocity, real mass, real time, uint index)\n"
             "{\n    return -velocity;\n}\n");
    nbody_succeeds("-n 8 --dt 0.01 --steps 3 --checkpoint s.ckpt -q --external v.cl");
    nbody_succeeds("--resume s.ckpt --steps 4 -q");
    put_text(in_folder("v.cl"),
             "real3 force(real3 position, real3 velocity, real mass, real time, uint index)\n"
             "{\n    return velocity;\n}\n");
    nbody_refuses(1, "or file of a force", "--resume s.ckpt --steps 9 -q");
}

/* Forces name bodies as events do, and follow them when they merge. */
static void nbody_command_forces_follow_bodies(void **unused)
{
    struct particles p;
    (void)unused;
    put_text(in_folder("three.tab"), "# name mass x y z vx vy vz radius\n"
                                     "small 0.25 0 0 0 0 0 0 0.1\n"
                                     "moon 1e-3 2 0 0 0 0.7 0 0.01\n"
                                     "big 0.75 0.1 0 0 0 0 0 0.1\n");
    put_text(in_folder("merged.tab"), "1e-3 2 0 0 0 0.7 0\n1 0.075 0 0 0 0 0\n");
    nbody_succeeds("-i merged.tab --external oblate:J2=0.02,R=0.3,body=2 --dt 1/64 --until 3 "
                   "--integrator ias15 -q -o by-hand.npy");
    static const char *const source[] = {"", ",body=small", ",body=1", ",body=big", ",body=3"};
    for (int k = 0; k < 5; k++) {
        char line[256];
        snprintf(line, sizeof line,
                 "-i three.tab --external oblate:J2=0.02,R=0.3%s --dt 1/64 --until 3 --collide "
                 "merge --integrator ias15 -q -o merged.npy -o merged.hdf5 --checkpoint m.ckpt",
                 source[k]);
        nbody_succeeds(line);
        assert_near_bodies("by-hand.npy", "merged.npy", 1e-12);
    }
    works(particles_read(in_folder("merged.hdf5"), &p));
    assert_string_equal(p.note[NOTE_external], "oblate:J2=0.02,R=0.3,body=2");
    particles_free(&p);
    nbody_succeeds("--resume m.ckpt --until 4 -q -o on.npy");
    nbody_succeeds("-i merged.tab --external oblate:J2=0.02,R=0.3,body=2 --dt 1/64 --until 4 "
                   "--integrator ias15 -q -o by-hand.npy");
    assert_near_bodies("by-hand.npy", "on.npy", 1e-12);
    nbody_refuses(2, "forces change; use --integrator ias15 or --stepping fixed",
                  "-i three.tab --dt 1 --external nfw:M=1,a=1 --stepping adaptive");
    nbody_refuses(2, "do not have; use --integrator leapfrog or --integrator ias15",
                  "-i three.tab --dt 1 --external nfw:M=1,a=1 --integrator hermite4");
    nbody_refuses(2, "body=0' names none of the 3 bodies",
                  "-i three.tab --dt 1 --external oblate:J2=1,R=1,body=0");
    nbody_refuses(2, "body=sun' names none of the 3 bodies",
                  "-i three.tab --dt 1 --external oblate:J2=1,R=1,body=sun");
}

/* A twentieth of the passage of the pericentre for whfast, of the period for trace, which leaves
 * pericentres to ias15. */
static void nbody_command_steps_planets_by_their_orbits(void **unused)
{
    (void)unused;
    put_text(in_folder("e.tab"), "1 0 0 0 0 0 0\n0 0.5 0 0 0 1.7320508075688772 0\n"
                                 "0 -9 0 0 0 0.1 0\n");
    nbody_succeeds("-i e.tab --integrator trace --steps 1 --json");
    json_t *r = nbody_report_json();
    assert_true(fabs(nbody_json_number(r, "dt") / (2 * acos(-1) / 20) - 1) < 0.05);
    json_decref(r);
    put_text(in_folder("e.tab"), "1 0 0 0 0 0 0\n0 0.5 0 0 0 1.7320508075688772 0\n");
    nbody_succeeds("-i e.tab --integrator whfast --steps 1 --json");
    r = nbody_report_json(); /* at 0.5 the angular speed is 2 sqrt(3) */
    assert_true(fabs(nbody_json_number(r, "dt") / (acos(-1) / sqrt(3) / 20) - 1) < 0.05);
    json_decref(r);
}

static void nbody_command_resumes_in_field(void **unused)
{
    (void)unused;
    nbody_succeeds("-n 50 --dt 1/64 --external plummer:1,0.5 --until 1 -q -o whole.npy");
    nbody_succeeds(
        "-n 50 --dt 1/64 --external plummer:1,0.5 --until 0.5 -q -o part.npy --checkpoint c.ckpt");
    nbody_succeeds("--resume c.ckpt --until 1 -q");
    size_t size[2];
    char *bytes[2] = {bytes_of(in_folder("whole.npy"), size),
                      bytes_of(in_folder("part.npy"), size + 1)};
    assert_int_equal(size[0], size[1]);
    assert_memory_equal(bytes[0], bytes[1], size[0]);
    free(bytes[0]);
    free(bytes[1]);
    nbody_refuses(2, "different values of --external", "--resume c.ckpt --external plummer:1,0.25");
}

/* ---- Steps that vanish. ---------------------------------------------------------------------- */

/* Two bodies fall onto each other: the run writes the state reached, and the message names the
 * bodies. */
static void nbody_command_reports_vanishing_step(void **unused)
{
    static const char *const how[] = {
        "--stepping block --precision double",
        "--stepping adaptive --integrator leapfrog --precision double", "--integrator ias15"};
    (void)unused;
    put_text(in_folder("fall.tab"), "1 5 0 0 0 0 0\n1 0.5 0 0 0 0 0\n1 -0.5 0 0 0 0 0\n");
    for (size_t k = 0; k < sizeof how / sizeof *how; k++) {
        struct particles p;
        char line[200];
        unlink(in_folder("end.tab"));
        snprintf(line, sizeof line, "-i fall.tab --eps 0 --dt 1/8 --until 2 -q -o end.tab %s",
                 how[k]);
        nbody_refuses(1, "bodies 2 and 3 (from 1 on) come so close that the time step vanishes",
                      line);
        works(particles_read(in_folder("end.tab"), &p));
        assert_true(p.n == 3 && p.time > 0.25 && p.time < 0.78 && p.pos[1][0] < 0.5 &&
                    p.pos[1][0] > 0);
        particles_free(&p);
    }
}

/* ---- Softenings. ----------------------------------------------------------------------------- */

/* Per-body softenings in TIPSY: at a distance of 1, with softenings 0.5 and 1, the bodies circle
 * as the formula says. */
static void nbody_command_uses_per_body_softening(void **unused)
{
    double mass[2] = {1, 1}, pos[2][3] = {{-0.5, 0, 0}, {0.5, 0, 0}}, vel[2][3] = {{0}},
           own[2] = {0.5, 1};
    const double r2 = 1 + (0.25 + 1) / 2, v = sqrt(1 / (r2 * sqrt(r2)) / 2),
                 period = 2 * 3.14159265358979323846 * 0.5 / v;
    struct particles p = {.n = 2,
                          .mass = mass,
                          .pos = pos,
                          .vel = vel,
                          .softening = own,
                          .also = PARTICLES_SOFTENING};
    char line[200];
    (void)unused;
    vel[0][1] = -(vel[1][1] = v);
    works(particles_write(in_folder("own.tipsy"), &p, NULL));
    snprintf(
        line, sizeof line,
        "-i own.tipsy --integrator hermite4 --precision double --dt 1/128 --until %.17g -o end.tipsy",
        period);
    nbody_succeeds(line);
    assert_non_null(strstr(out, "softening per body\n"));
    works(particles_read(in_folder("end.tipsy"), &p));
    assert_true(fabs(p.pos[0][0] + 0.5) < 1e-5 && fabs(p.pos[0][1]) < 1e-5 &&
                p.softening[0] == 0.5 && p.softening[1] == 1);
    particles_free(&p);
    nbody_succeeds("-i own.tipsy --dt 1/64 --until 1 -q -o whole.npy --json");
    json_t *r = nbody_report_json();
    assert_true(json_is_null(json_object_get(r, "eps")));
    json_decref(r);
    nbody_succeeds("-i own.tipsy --dt 1/64 --until 0.5 -q -o part.npy --checkpoint c.ckpt");
    nbody_refuses(2, "different values of --eps", "--resume c.ckpt --until 1 --eps 0");
    nbody_succeeds("--resume c.ckpt --until 1 -q --check-forces 2");
    size_t size;
    char *one = bytes_of(in_folder("whole.npy"), &size),
         *other = bytes_of(in_folder("part.npy"), NULL);
    assert_memory_equal(one, other, size);
    free(one);
    free(other);
    nbody_succeeds("-i own.tipsy --eps 0.25 --method tree --steps 1");
    assert_non_null(strstr(out, "softening 0.25\n"));
    nbody_refuses(1, "own.tipsy has per-body softenings, but --method tree needs one",
                  "-i own.tipsy --method tree");
    nbody_refuses(1, "but --stepping needs one",
                  "-i own.tipsy --integrator hermite4 --stepping block");
    nbody_refuses(1, "but --compare needs one", "-i own.tipsy --compare");
}

/* ---- Precision. ------------------------------------------------------------------------------ */

/* Default precision: mixed for direct sums if the device has doubles; double or single for
 * methods without mixed precision. */
static void nbody_command_default_precision_is_named(void **unused)
{
    static const struct {
        const char *options, *precision;
    } of[] = {{"-n 200", "mixed"},
              {"-n 40", "double"}, /* on the host */
              {"-n 40 --device cpu", "mixed"},
              {"-n 200 --integrator yoshida4 --method auto", "mixed"},
              {"-n 40 --integrator hermite4", "double"},
              {"-n 40 --method tree", "single"},
              {"-n 40 --kernel tiled", "single"},
              {"--ic figure8", "double"}};
    (void)unused;
    const bool doubles = run_nbody_command("-n 2 --steps 0 -q --precision double") == 0;
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        char line[200];
        if (!sampled(i, 2))
            continue;
        snprintf(line, sizeof line, "%s --steps 1 --dt 1/256 -q --json", of[i].options);
        nbody_succeeds(line);
        json_t *r = nbody_report_json();
        assert_string_equal(json_string_value(json_object_get(r, "precision")),
                            doubles ? of[i].precision : "single");
        json_decref(r);
    }
}

/* Up to 16 bodies default to ias15, also with --collide: the Pythagorean problem at t = 20 is where
 * Szebehely & Peters say. Options about steps keep leapfrog. */
static void nbody_command_default_for_few_bodies_is_ias15(void **unused)
{
    static const struct {
        const char *options, *integrator;
    } of[] = {{"-n 16", "ias15"},
              {"-n 5 --collide merge --radius 1e-6", "ias15"},
              {"-n 17", "leapfrog"},
              {"-n 16 --dt 1/64", "leapfrog"},
              {"-n 16 --stepping adaptive", "hermite4"}};
    struct particles p;
    (void)unused;
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        char line[200];
        snprintf(line, sizeof line, "%s --until 0.1 -q --json", of[i].options);
        nbody_succeeds(line);
        json_t *r = nbody_report_json();
        assert_string_equal(json_string_value(json_object_get(r, "integrator")), of[i].integrator);
        json_decref(r);
    }
    nbody_succeeds("--ic pythagorean --until 20 --json -o end.tab");
    json_t *r = nbody_report_json();
    assert_string_equal(json_string_value(json_object_get(r, "integrator")), "ias15");
    assert_true(nbody_json_number(r, "energy_error_rel") < 1e-12);
    json_decref(r);
    works(particles_read(in_folder("end.tab"), &p));
    assert_true(fabs(p.pos[0][0] - 3.004292637) < 1e-8 && fabs(p.pos[0][1] - 0.511925235) < 1e-8);
    particles_free(&p);
    put_text(in_folder("pair.tab"), "1 0 0 0 0 0 0\n0 1 0 0 0 1 0\n");
    nbody_succeeds("-i pair.tab --until 6283.185307179586 --diag 100 --csv rows.csv -o end.tab");
    works(particles_read(in_folder("end.tab"), &p)); /* 1000 orbits */
    assert_true(fabs(p.pos[1][0] - 1) < 1e-10 && fabs(p.pos[1][1]) < 1e-10);
    particles_free(&p);
}

/* Few bodies are stepped on the host, unless an option concerns devices. The end is the same to
 * rounding. */
static void nbody_command_steps_few_bodies_on_host(void **unused)
{
    static const struct {
        const char *options;
        bool host;
    } of[] = {{"-n 100", true},
              {"-n 200", false},
              {"-n 100 --device cpu --precision double", false},
              {"-n 100 --precision mixed", false},
              {"-n 100 --kernel tiled", false},
              {"-n 100 --method auto --integrator yoshida4 --stepping adaptive", true}};
    (void)unused;
    if (run_nbody_command("-n 2 --steps 0 -q --precision double") != 0)
        skip();
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        char line[200];
        snprintf(line, sizeof line, "%s --steps 9 --dt 1/256 -q --json", of[i].options);
        nbody_succeeds(line);
        json_t *r = nbody_report_json();
        assert_int_equal(json_is_true(json_object_get(r, "host")), of[i].host);
        json_decref(r);
    }
    nbody_succeeds("-n 100 --steps 9 --dt 1/256 --explain");
    assert_non_null(strstr(out, "on the host"));
    assert_non_null(strstr(err, "steps on the host; the bodies are few"));
}

/* Also after a failure, which leaves the test by longjmp. */
static int restore_drivers(void **unused)
{
    (void)unused;
    variables = "";
    return 0;
}

/* Pictures if built with libpng, and a film if ffmpeg is installed, too. */
static void draw_figure8(void)
{
    if (run_nbody_command("--ic figure8 -o f.png --frames 3 --size 64 -q") != 0)
        assert_non_null(strstr(err, "libpng"));
    else if (system("command -v ffmpeg >/dev/null") == 0)
        nbody_succeeds("--ic figure8 -o f.webm --frames 3 --size 64 -q");
}

/* Without --frames a picture beside a film is of the end; one of the film's name has its frames. */
static void nbody_command_draws_end_beside_film(void **unused)
{
    (void)unused;
    if (run_nbody_command("-n 20 --steps 4 -q --size 64 -o try.png") != 0 ||
        system("command -v ffmpeg >/dev/null") != 0)
        skip();
    nbody_succeeds("-n 20 --steps 4 --size 64 -o end.png -o film.gif -o film.png");
    assert_non_null(strstr(out, "end.png\n"));
    assert_int_equal(access(in_folder("end.png"), R_OK), 0);
    assert_int_not_equal(access(in_folder("end-0001.png"), R_OK), 0);
    assert_int_equal(access(in_folder("film-0005.png"), R_OK), 0);
    assert_int_not_equal(access(in_folder("film.png"), R_OK), 0);
    check_same_files("end.png", "film-0005.png");
}

/* Runs of few bodies need no OpenCL driver for any of their outputs; other runs say so. */
static void nbody_command_runs_few_bodies_without_devices(void **unused)
{
    nbody_succeeds("-n 20 --steps 20 --check-forces 3 -q -o with.npy");
    variables = NO_DRIVERS " OCL_ICD_FILENAMES=";
    nbody_succeeds("-n 20 --steps 10 -q --checkpoint few.ckpt");
    nbody_succeeds("--resume few.ckpt --steps 20 -q -o without.npy");
    nbody_succeeds("--ic figure8 --steps 10 --json --explain --csv t.csv --structure s.csv "
                   "--elements e.csv --forces f.csv --event apsis:2 --events v.csv "
                   "--snapshots 0.02 -o s-%03d.tab --record r.view");
    assert_non_null(strstr(out, "\"device\": \"host\""));
    draw_figure8();
    nbody_succeeds("--ic pythagorean --until 1 --collide merge --radius 0.01 -q");
    nbody_succeeds("--ic figure8 --steps 10 --integrator leapfrog --check-step -q");
    nbody_succeeds("--ic figure8 --integrator ias15 --megno --steps 10");
    nbody_refuses(1, "no OpenCL platform", "-n 200 --steps 1");
    nbody_refuses(1, "no OpenCL platform", "--ic figure8 --device cpu");
    nbody_refuses(1, "no OpenCL platform", "-n 20 --steps 1 --check-forces 3");
    restore_drivers(unused);
    assert_equal_bodies("with.npy", "without.npy");
    nbody_succeeds("--resume few.ckpt --steps 20 -q --device 0 -o without.npy");
    assert_equal_bodies("with.npy", "without.npy");
}

/* whfast with each of its options, which exclude others. */
static void nbody_command_runs_whfast(void **unused)
{
    static const char *const options[] = {"", "--corrector none --safe-mode",
                                          "--coordinates heliocentric"};
    (void)unused;
    if (run_nbody_command("-n 2 --steps 0 -q --precision double") != 0)
        skip();
    put_text(in_folder("star.tab"),
             "1 0 0 0 0 0 0\n1e-4 1 0 0 0 1 0\n1e-4 0 2 0 -0.70710678118654752 0 0\n");
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        char line[200];
        snprintf(line, sizeof line,
                 "-i star.tab --integrator whfast --dt 0.1 --until 100 --json %s", options[i]);
        nbody_succeeds(line);
        json_t *r = nbody_report_json();
        assert_true(json_is_true(json_object_get(r, "host")));
        assert_true(json_real_value(json_object_get(r, "energy_error_rel")) < 1e-6);
        json_decref(r);
    }
    nbody_refuses(2, "--corrector needs --integrator whfast", "-n 8 --corrector 3");
    nbody_refuses(2, "use Jacobi coordinates",
                  "-i star.tab --integrator whfast --coordinates heliocentric --corrector 3");
    nbody_refuses(2, "needs steps of one length",
                  "-i star.tab --integrator whfast --stepping adaptive");
    nbody_refuses(2, "computes on the host", "-i star.tab --integrator whfast --method tree");
    nbody_refuses(2, "computes on the host", "-i star.tab --integrator whfast --kernel tiled");
    nbody_refuses(1, "has no softening", "-i star.tab --integrator whfast --eps 0.1");
}

/* Planets that meet: trace keeps the energy, whfast does not; a run resumed in the middle has equal
 * bits. */
static void nbody_command_runs_trace(void **unused)
{
    size_t size;
    (void)unused;
    if (run_nbody_command("-n 2 --steps 0 -q --precision double") != 0)
        skip();
    put_text(in_folder("meet.tab"), "1 0 0 0 0 0 0\n1e-3 1 0 0 0 1 0\n"
                                    "1e-3 -1.02 0.1 0 0.05 -0.99 0\n1e-4 0 1.3 0 -0.87 0 0.01\n");
    for (int k = 0; k < 2; k++) {
        char line[200];
        snprintf(line, sizeof line,
                 "-i meet.tab --eps 0 --dt 0.1 --until 200.05 --json -o whole.npy --integrator %s",
                 k ? "trace --hill 4" : "whfast");
        nbody_succeeds(line);
        json_t *r = nbody_report_json();
        assert_true((fabs(nbody_json_number(r, "energy_error_rel")) < 1e-4) == (k == 1));
        json_decref(r);
    }
    nbody_succeeds("-i meet.tab --eps 0 --dt 0.1 --until 90 -q -o part.npy --integrator trace "
                   "--hill 4 --checkpoint c.ckpt");
    nbody_succeeds("--resume c.ckpt --until 200.05 -q");
    char *one = bytes_of(in_folder("whole.npy"), &size),
         *other = bytes_of(in_folder("part.npy"), NULL);
    assert_memory_equal(one, other, size);
    free(one);
    free(other);
    nbody_succeeds("-i meet.tab --eps 0 --dt 0.1 --until 40 --collide merge --radius 0.015 --json "
                   "--integrator trace");
    json_t *r = nbody_report_json();
    assert_true(nbody_json_number(json_object_get(r, "collisions"), "count") >= 1 &&
                nbody_json_number(r, "time") == 40 &&
                fabs(nbody_json_number(r, "energy_error_rel")) < 1e-3);
    json_decref(r);
    nbody_refuses(2, "--hill needs --integrator trace", "-n 8 --hill 3");
    nbody_refuses(2, "computes on the host", "-i meet.tab --integrator trace --method tree");
    nbody_refuses(2, "no external fields", "-i meet.tab --integrator trace --external point:1");
    nbody_refuses(1, "has no softening", "-i meet.tab --integrator trace --eps 0.1");
}

/* A planet of period 2 pi, eccentricity 0.5 and mass 0 starts at its apocentre: pericentres at pi,
 * 3 pi and so on. A run resumed in the middle has an equal table. --stop-event ends ias15 at the
 * event, and whfast at the end of its step. */
static void nbody_command_finds_events(void **unused)
{
    static const char *const rules =
        "--event apsis:b --event transit:x,2 --event escape:1.4,b,star --event encounter:0.6";
    char line[400];
    size_t size;
    (void)unused;
    if (run_nbody_command("-n 2 --steps 0 -q --precision double") != 0)
        skip();
    put_text(in_folder("named.tab"), "# name mass x y z vx vy vz\nstar 1 0 0 0 0 0 0\n"
                                     "b 0 -1.5 0 0 0 -0.57735026918962576 0\n");
    for (int k = 0; k < 2; k++) {
        const char *const how = k ? "whfast --dt 0.1" : "ias15 --dt 0.25";
        snprintf(line, sizeof line,
                 "-i named.tab --eps 0 --until 20 -q --events whole.csv %s --integrator %s", rules,
                 how);
        nbody_succeeds(line);
        char *one = bytes_of(in_folder("whole.csv"), &size), *row = one;
        int pericentres = 0, apocentres = 0, transits = 0, escapes = 0, encounters = 0;
        while ((row = strchr(row, '\n')) && row[1]) {
            const double time = strtod(++row, NULL), turn = time / acos(-1);
            const char *const kind = strcspn(row, "\n") + row;
            const double whole = fabs(turn - rint(turn));
            pericentres += !strncmp(kind - 10, "pericentre", 10) && whole < 1e-12;
            apocentres += !strncmp(kind - 9, "apocentre", 9) && whole < 1e-12;
            transits += !strncmp(kind - 7, "transit", 7) && whole < 1e-12;
            encounters += !strncmp(kind - 9, "encounter", 9) && whole < 1e-12;
            escapes += !strncmp(kind - 6, "escape", 6);
        }
        assert_true(pericentres == 3 && apocentres == 3 && transits == 3 && encounters == 3 &&
                    escapes == 3);
        snprintf(line, sizeof line,
                 "-i named.tab --eps 0 --until 10 -q --events part.csv --checkpoint c.ckpt %s "
                 "--integrator %s",
                 rules, how);
        nbody_succeeds(line);
        nbody_succeeds("--resume c.ckpt --until 20 -q");
        char *other = bytes_of(in_folder("part.csv"), NULL);
        assert_memory_equal(one, other, size);
        free(one);
        free(other);
        snprintf(line, sizeof line,
                 "-i named.tab --eps 0 --until 20 --json --stop-event apsis:2,1 --integrator %s",
                 how);
        nbody_succeeds(line);
        json_t *r = nbody_report_json();
        assert_true(fabs(nbody_json_number(r, "time") - (k ? 3.2 : acos(-1))) < 1e-12);
        json_decref(r);
    }
    nbody_refuses(2, "--event needs --events", "-n 8 --event apsis:1");
    nbody_refuses(2, "--event: 'apsis:c': 'c' names none of the 2 bodies; give a name",
                  "-i named.tab --event apsis:c --events none.csv");
    nbody_refuses(2, "mergers change the numbers",
                  "-n 8 --stop-event apsis:1 --collide merge --radius 1");
    nbody_refuses(2, "'apsis:' is not a rule for 2 bodies; give encounter:D",
                  "-i named.tab --event apsis: --events none.csv");
    nbody_refuses(2, "steps of equal times", "-n 8 --stop-event apsis:1 --stepping block");
    assert_true(access(in_folder("none.csv"), F_OK) != 0);
}

/* ---- Bad input. ------------------------------------------------------------------------------ */

static void nbody_command_rejects_coincident_bodies(void **unused)
{
    (void)unused;
    put_text(in_folder("same.tab"), "1 0 0 1 0 0 0\n1 2 0 0 0 0 0\n1 0 0 1 1 0 0\n");
    nbody_refuses(
        1,
        "bodies 1 and 3 coincide at 0 0 1: without softening their force is infinite; move one, or give --eps",
        "-i same.tab --eps 0 --steps 1 --dt 0.1 -o none.tab");
    assert_int_equal(access(in_folder("none.tab"), F_OK), -1);
    nbody_succeeds("-i same.tab --eps 0.1 --steps 1 --dt 0.1 -q");
    put_text(in_folder("light.tab"), "0 0 0 1 0 0 0\n1 2 0 0 0 0 0\n0 0 0 1 1 0 0\n");
    nbody_succeeds(
        "-i light.tab --eps 0 --steps 1 --dt 0.1 -q"); /* test particles do not attract */
}

/* Beside a very distant body all other bodies would be at one place. */
static void nbody_command_rejects_distant_body(void **unused)
{
    (void)unused;
    put_text(in_folder("far.tab"), "1 0 0 0 0 0 0\n1 1e20 0 0 0 0 0\n1 2 0 0 0 0 0\n");
    nbody_refuses(
        1,
        "body 2 lies 1e+20 from the middle of the bodies, of which half lie within 2: mixed precision cannot hold both; leave it out, or "
        "take double precision",
        "-i far.tab --steps 1 --dt 0.1 --precision mixed -o none.tab");
    nbody_refuses(1, "single precision cannot hold both",
                  "-i far.tab --steps 1 --dt 0.1 --method tree --precision single -o none.tab");
    assert_int_equal(access(in_folder("none.tab"), F_OK), -1);
    nbody_succeeds("-i far.tab --steps 1 --dt 0.1 --precision double -q");
    put_text(in_folder("far.tab"), "1 0 0 0 0 0 0\n1 1e9 0 0 0 0 0\n1 2 0 0 0 0 0\n");
    nbody_succeeds("-i far.tab --steps 1 --dt 0.1 --method tree --precision single -q");
    put_text(in_folder("far.tab"), "1 0 0 0 0 0 0\n1 1e300 0 0 0 0 0\n1 2 0 0 0 0 0\n");
    nbody_refuses(1, "double precision cannot hold both; leave it out",
                  "-i far.tab --steps 1 --dt 0.1 --precision double -q");
}

/* An energy beyond single precision is an error on every device. */
static void nbody_command_rejects_energy_beyond_float(void **unused)
{
    (void)unused;
    put_text(in_folder("fast.tab"), "1 1 0 0 1e20 0 0\n1 0 0 0 0 0 0\n");
    nbody_refuses(
        1, "kinetic energy is out of the range of single precision",
        "-i fast.tab --eps 0.1 --steps 0 --dt 1e-30 --precision single -q --csv e.csv -o none.tab");
    assert_int_equal(access(in_folder("none.tab"), F_OK), -1);
    nbody_succeeds("-i fast.tab --eps 0.1 --steps 0 --dt 1e-30 -q");
}

/* ---- Collisions. ----------------------------------------------------------------------------- */

/* Two free bodies collide head on: mass, momentum and centre are kept, and the radius follows
 * from the summed volume; one body remains. */
static void nbody_command_merges_colliding_bodies(void **unused)
{
    struct particles p;
    (void)unused;
    put_text(
        in_folder("meet.tab"),
        "# mass x y z vx vy vz radius\n3 -1 0 0 1 0 0 0.3\n1 2 0 0 -2 0 0.5 0.2\n1 9 9 0 0 0 0 0.1\n");
    nbody_succeeds(
        "-i meet.tab -G 1e-12 --eps 0 --dt 1/64 --until 2 --precision double --collide merge --json -o one.tab");
    json_t *r = nbody_report_json(), *c = json_object_get(r, "collisions"),
           *e = json_array_get(json_object_get(c, "events"), 0);
    assert_true(nbody_json_number(c, "count") == 1 && nbody_json_number(e, "first") == 1 &&
                nbody_json_number(e, "second") == 2);
    /* (3 - 3 t)^2 + (t / 2)^2 = (1/2)^2: the contact within the step */
    const double t = (18 - sqrt(18 * 18 - 4 * 9.25 * 8.75)) / (2 * 9.25);
    assert_true(fabs(nbody_json_number(e, "time") - t) < 1e-9);
    assert_true(fabs(nbody_json_number(c, "energy_lost") - 0.5 * 0.75 * 9.25) < 1e-9 &&
                nbody_json_number(r, "energy_error_rel") < 1e-9);
    assert_true(nbody_json_number(r, "time") == 2 && nbody_json_number(r, "n") == 2);
    json_decref(r);
    works(particles_read(in_folder("one.tab"), &p));
    assert_true(p.n == 2 && p.mass[0] == 4 && fabs(p.radius[0] - cbrt(0.035)) < 1e-15 &&
                p.radius[1] == 0.1);
    assert_true(fabs(p.vel[0][0] - 0.25) < 1e-9 && fabs(p.vel[0][2] - 0.125) < 1e-9);
    assert_true(fabs(p.pos[0][0] - (-0.25 + 0.5)) < 1e-9 && fabs(p.pos[0][2] - 0.25) < 1e-9);
    particles_free(&p);
    nbody_succeeds(
        "-i meet.tab -G 1e-12 --eps 0 --dt 1/64 --until 2 --precision double --collide stop -o stop.tab");
    assert_non_null(strstr(out, "bodies 1 and 2 touch at time 0.94594"));
    works(particles_read(in_folder("stop.tab"), &p));
    assert_true(p.n == 3 && p.time < 0.97 && p.time > 0.93);
    particles_free(&p);
    nbody_refuses(2, "--collide needs radii", "-n 8 --collide merge");
    nbody_refuses(2, "--radius needs --collide", "-n 8 --radius 1");
    nbody_refuses(2, "--check-step and --collide", "-n 8 --radius 1 --collide merge --check-step");
}

/* In one step of 6.3, which ias15 and adaptive steps divide, two bodies of an ellipse with
 * semi-major axis 1 and eccentricity 0.9 come within the sum of their radii and part again.
 * Kepler's equation says when; merged there, they rest. Bodies that overlap at the start touch at
 * time 0. */
static void nbody_command_finds_contacts_within_steps(void **unused)
{
    static const struct {
        const char *how;
        double error;
    } each[] = {{"--integrator ias15", 1e-11},
                {"--stepping adaptive --integrator hermite4 --eta 1e-3", 1e-6},
                {"--stepping adaptive --integrator leapfrog --eta 1e-5", 1e-3},
                {"--integrator ias15 --dt 1/64", 1e-11}};
    const double E = acos((1 - 0.12) / 0.9), right = acos(-1) - (E - 0.9 * sin(E));
    char line[300];
    struct particles p;
    (void)unused;
    put_text(in_folder("orbit.tab"),
             "0.5 -0.95 0 0 0 -0.11470786693528087 0\n0.5 0.95 0 0 0 0.11470786693528087 0\n");
    for (size_t k = 0; k < sizeof each / sizeof *each; k++) {
        snprintf(
            line, sizeof line,
            "-i orbit.tab --eps 0 --collide merge --radius 0.06 --until 6.3 --dt 6.3 --json -o "
            "one.tab %s",
            each[k].how);
        nbody_succeeds(line);
        json_t *r = nbody_report_json(), *c = json_object_get(r, "collisions"),
               *e = json_array_get(json_object_get(c, "events"), 0);
        assert_true(nbody_json_number(c, "count") == 1);
        assert_true(fabs(nbody_json_number(e, "time") - right) < each[k].error);
        assert_true(nbody_json_number(r, "time") == 6.3 && nbody_json_number(r, "n") == 1);
        json_decref(r);
        works(particles_read(in_folder("one.tab"), &p));
        assert_true(p.n == 1 && p.mass[0] == 1 && fabs(p.pos[0][0]) < 1e-12 &&
                    fabs(p.vel[0][1]) < 1e-12);
        particles_free(&p);
        snprintf(
            line, sizeof line,
            "-i orbit.tab --eps 0 --collide stop --radius 0.06 --until 6.3 --dt 6.3 -o at.tab %s",
            each[k].how);
        nbody_succeeds(line);
        assert_null(strstr(err, "missed"));
        assert_non_null(strstr(out, "bodies 1 and 2 touch at time 3.1"));
        works(particles_read(in_folder("at.tab"), &p));
        assert_true(p.n == 2 && p.time > 3 && p.time < 3.15);
        particles_free(&p);
        snprintf(line, sizeof line,
                 "-i orbit.tab --eps 0 --collide stop --radius 1 --until 6.3 --dt 1/8 %s",
                 each[k].how);
        nbody_succeeds(line);
        assert_non_null(strstr(out, "bodies 1 and 2 touch at time 0 "));
    }
    nbody_succeeds("-i orbit.tab --eps 0 --collide merge --radius 1 --steps 1 --dt 1/8 --json");
    json_t *r = nbody_report_json(),
           *e = json_array_get(json_object_get(json_object_get(r, "collisions"), "events"), 0);
    assert_true(nbody_json_number(e, "time") == 0 && nbody_json_number(r, "n") == 1);
    json_decref(r);
    nbody_succeeds(
        "-i orbit.tab --eps 0 --integrator hermite4 --stepping block --collide stop --radius 0.06 --until 6.3 --dt 6.3");
    assert_non_null(strstr(err, "contacts may have been missed; use a smaller --dt"));
}

/* Planetesimals in a ring, much larger than real ones: mergers within long steps conserve momentum
 * and mass, and a run resumed between them has equal bits. */
static void nbody_command_resumes_after_mergers_within_steps(void **unused)
{
    static const char *const run =
        "-n 16 --eps 0 --dt 1/4 --radius 0.1 --collide merge --integrator ias15 --seed 5";
    char line[300];
    size_t size;
    (void)unused;
    snprintf(line, sizeof line, "%s --until 5 -q -o whole.npy --json", run);
    nbody_succeeds(line);
    json_t *r = nbody_report_json(), *momentum = json_object_get(r, "momentum");
    assert_true(nbody_json_number(json_object_get(r, "collisions"), "count") > 3 &&
                fabs(nbody_json_number(r, "energy_error_rel")) < 1e-11);
    for (size_t k = 0; k < 3; k++)
        assert_true(fabs(json_real_value(json_array_get(momentum, k))) < 1e-13);
    json_decref(r);
    snprintf(line, sizeof line, "%s --until 2 -q -o part.npy --checkpoint c.ckpt --every 0.5", run);
    nbody_succeeds(line);
    nbody_succeeds("--resume c.ckpt --until 5 -q");
    char *one = bytes_of(in_folder("whole.npy"), &size),
         *other = bytes_of(in_folder("part.npy"), NULL);
    assert_memory_equal(one, other, size);
    free(one);
    free(other);
}

/* A cluster with mergers resumes with equal bits, and HDF5 keeps its names. */
static void nbody_command_resumes_after_merger(void **unused)
{
    size_t size;
    (void)unused;
    nbody_succeeds(
        "-n 200 --eps 0 --dt 1/256 --radius 0.03 --collide merge --until 0.25 -q -o whole.npy --csv whole.csv --json");
    json_t *r = nbody_report_json();
    assert_true(nbody_json_number(json_object_get(r, "collisions"), "count") > 5 &&
                nbody_json_number(r, "energy_error_rel") < 1e-3);
    json_decref(r);
    nbody_succeeds(
        "-n 200 --eps 0 --dt 1/256 --radius 0.03 --collide merge --until 0.125 -q -o part.npy --csv part.csv --diag 1/256 --checkpoint c.ckpt");
    nbody_refuses(2, "different values of --collide, --radius",
                  "--resume c.ckpt --collide stop --radius 0.5");
    nbody_succeeds("--resume c.ckpt --until 0.25 -q --json");
    json_t *again = nbody_report_json();
    assert_true(nbody_json_number(json_object_get(again, "collisions"), "count") > 5 &&
                nbody_json_number(again, "energy_error_rel") < 1e-3);
    json_decref(again);
    char *one = bytes_of(in_folder("whole.npy"), &size),
         *other = bytes_of(in_folder("part.npy"), NULL);
    assert_memory_equal(one, other, size);
    free(one);
    free(other);
    if (run_nbody_command(
            "-n 50 --eps 0 --radius 0.05 --dt 1/256 --until 0.25 --collide merge -q -o names.hdf5") ==
        0) {
        struct particles p;
        works(particles_read(in_folder("names.hdf5"), &p));
        assert_true(p.n < 50 && p.radius && p.id && p.id[p.n - 1] >= p.n);
        particles_free(&p);
    }
}

/* ---- Ensembles. ------------------------------------------------------------------------------ */

static const char star_and_two[] =
    "1 0 0 0 0 0 0\n1e-6 1 0 0 0 1 0\n1e-6 0 2 0 -0.70710678118654752 0 0\n";

/* Copies with no or a small perturbation; the first copy is always unperturbed. */
static void nbody_command_runs_ensemble_of_copies(void **unused)
{
    struct particles p, q;
    (void)unused;
    put_text(in_folder("star.tab"), star_and_two);
    nbody_succeeds(
        "-i star.tab --ensemble 20 --spread 0 --until 10 -o same.tab --elements same.csv --json");
    json_t *r = nbody_report_json();
    assert_true(nbody_json_number(r, "systems") == 20 && nbody_json_number(r, "bodies") == 3 &&
                nbody_json_number(r, "wrong_systems") == 0);
    assert_true(fabs(nbody_json_number(r, "time") - 10) < 1e-12 &&
                nbody_json_number(r, "energy_error_max") < 1e-9);
    assert_true(nbody_json_number(r, "dt") <= 6.2831854 / 20 &&
                nbody_json_number(r, "dt") > 6.28 / 22);
    json_decref(r);
    works(particles_read(in_folder("same.tab"), &p));
    assert_true(p.n == 60 && fabs(p.time - 10) < 1e-12 && particles_number(&p, NOTE_G) == 1);
    for (size_t s = 1; s < 20; s++)
        assert_memory_equal(p.pos[3 * s], p.pos[0], 3 * sizeof *p.pos);
    nbody_succeeds("-i star.tab --ensemble 20 --spread 0.01 --seed 4 --until 10 -o other.tab -q");
    works(particles_read(in_folder("other.tab"), &q));
    assert_memory_equal(q.pos[0], p.pos[0], 3 * sizeof *p.pos);
    for (size_t s = 1; s < 20; s++) {
        assert_true(fabs(q.pos[3 * s + 1][0] - p.pos[1][0]) > 1e-6);
        assert_true(hypot(q.pos[3 * s + 1][0], q.pos[3 * s + 1][1]) < 1.1);
    }
    particles_free(&p);
    particles_free(&q);
    load_nbody_file("same.csv", out, sizeof out);
    assert_true(strncmp(out, "system,body,semi_major,", 23) == 0 && strstr(out, "\n20,3,") != NULL);
}

/* The first copy has the bits of a single run, with every option. */
static void nbody_command_runs_ensemble_by_whfast(void **unused)
{
    static const char *const options[] = {"", "--coordinates heliocentric", "--corrector none",
                                          "--safe-mode"};
    struct particles p, q;
    (void)unused;
    put_text(in_folder("star.tab"),
             "1 0 0 0 0 0 0\n1e-4 1 0 0 0 1 0\n1e-3 0 2 0 -0.70710678118654752 0 0\n");
    for (size_t k = 0; k < sizeof options / sizeof *options; k++) {
        char line[200];
        snprintf(line, sizeof line,
                 "-i star.tab --integrator whfast --dt 0.25 --steps 40 -q -o one.tab %s",
                 options[k]);
        nbody_succeeds(line);
        snprintf(line, sizeof line,
                 "-i star.tab --integrator whfast --dt 0.25 --steps 40 -q -o all.tab --ensemble 3 "
                 "%s",
                 options[k]);
        nbody_succeeds(line);
        works(particles_read(in_folder("one.tab"), &p));
        works(particles_read(in_folder("all.tab"), &q));
        assert_true(p.n == 3 && q.n == 9);
        assert_memory_equal(p.pos, q.pos, 3 * sizeof *p.pos);
        assert_memory_equal(p.vel, q.vel, 3 * sizeof *p.vel);
        particles_free(&p);
        particles_free(&q);
    }
    nbody_refuses(2, "support only their own symplectic integrator, whfast and ias15",
                  "-i star.tab --ensemble 3 --integrator hermite4");
    nbody_refuses(2, "use Jacobi coordinates",
                  "-i star.tab --ensemble 3 --integrator whfast --coordinates heliocentric "
                  "--corrector 3");
    nbody_refuses(2, "--corrector needs --integrator whfast",
                  "-i star.tab --ensemble 3 --corrector 3");
}

/* MEGNO in report, table and ensemble: one run, the same numbers. */
static void nbody_command_reports_megno(void **unused)
{
    (void)unused;
    put_text(in_folder("star.tab"), star_and_two);
    nbody_succeeds("-i star.tab --integrator whfast --dt 0.25 --steps 4000 --megno --json "
                   "--csv chaos.csv");
    json_t *r = nbody_report_json();
    const double megno = nbody_json_number(r, "megno");
    assert_true(fabs(megno - 2) < 0.1 && fabs(nbody_json_number(r, "megno_now") - 2) < 0.3);
    assert_true(nbody_json_number(r, "lyapunov") > 0 && nbody_json_number(r, "lyapunov") < 0.02);
    json_decref(r);
    load_nbody_file("chaos.csv", out, sizeof out);
    assert_non_null(strstr(out, ",virial_ratio,megno,megno_now,lyapunov\n"));
    const char *last = strrchr(out, '\n');
    for (int commas = 0; commas < 3; commas += *last == ',')
        last--;
    assert_true(fabs(strtod(last + 1, NULL) / megno - 1) < 1e-12);
    nbody_succeeds("-i star.tab --integrator whfast --dt 0.25 --steps 4000 --megno --json "
                   "--ensemble 2 --spread 0 --elements chaos.csv");
    r = nbody_report_json();
    assert_true(nbody_json_number(r, "chaotic_systems") < 1);
    json_decref(r);
    load_nbody_file("chaos.csv", out, sizeof out);
    assert_non_null(strstr(out, ",energy_error,time,megno,lyapunov\n"));
    last = strrchr(out, '\n');
    for (int commas = 0; commas < 2; commas += *last == ',')
        last--;
    assert_true(fabs(strtod(last + 1, NULL) - megno) < 1e-9);
    nbody_succeeds("-i star.tab --integrator whfast --dt 0.25 --steps 40 --megno");
    assert_non_null(strstr(out, "MEGNO"));
    nbody_refuses(2, "no other integrator has variational equations", "-i star.tab --megno --dt 1");
    nbody_refuses(2, "no other integrator has variational equations",
                  "-i star.tab --megno --ensemble 3");
    nbody_succeeds("-i star.tab --integrator ias15 --dt 6 --steps 200 --megno --json "
                   "--checkpoint megno.ckpt");
    nbody_succeeds("--resume megno.ckpt --steps 400 --json");
    r = nbody_report_json();
    assert_true(fabs(nbody_json_number(r, "megno") - 2) < 0.1);
    json_decref(r);
    nbody_refuses(2, "--megno and --safe-mode cannot be combined",
                  "-i star.tab --integrator whfast --megno --safe-mode");
}

static void nbody_command_runs_ensemble_of_files(void **unused)
{
    struct particles p;
    (void)unused;
    put_text(in_folder("star.tab"), star_and_two);
    put_text(in_folder("moved.tab"), "1 0 0 0 0 0 0\n1e-6 2 0 0 0 0.7 0\n1e-6 0 3 0 -0.6 0 0\n");
    put_text(in_folder("list"), "# two systems\n\n  star.tab\nmoved.tab\n");
    put_text(in_folder("empty"), "\n# none\n");
    put_text(in_folder("uneven"), "star.tab\none.tab\n");
    put_text(in_folder("one.tab"), "1 0 0 0 0 0 0\n0 1 0 0 0 1 0\n");
    put_text(in_folder("light.tab"), "1 0 0 0 0 0 0\n2 1 0 0 0 1 0\n");
    nbody_succeeds("--ensemble list --dt 0.1 --steps 0 -o both.tab --alone");
    assert_non_null(strstr(out, "\nsystems       2 of 3 bodies, from list\n"));
    works(particles_read(in_folder("both.tab"), &p));
    assert_true(p.n == 6 && p.pos[4][0] == 2);
    particles_free(&p);
    nbody_refuses(1, "lists no files", "--ensemble empty");
    nbody_refuses(1, "none: No such file", "--ensemble none");
    nbody_refuses(1, "/dev/zero: is a device; --ensemble needs a number", "--ensemble /dev/zero");
    nbody_refuses(1, ".: is a directory; --ensemble needs a number", "--ensemble .");
    nbody_refuses(1, "one.tab has 2 bodies, but the preceding systems have 3", "--ensemble uneven");
    nbody_refuses(1, "light.tab: the first body must be the star, but body 2 is heavier",
                  "-i light.tab --ensemble 4");
    nbody_refuses(2, "add -i FILE", "--ensemble 4");
    nbody_refuses(2, "cannot be combined: the list's files are the systems",
                  "-i star.tab --ensemble list");
    nbody_refuses(2, "--ensemble and --eps cannot be combined", "-i star.tab --ensemble 4 --eps 1");
    nbody_refuses(2, "--spread needs --ensemble N", "-i star.tab --spread 0.1");
    nbody_refuses(2, "--ensemble writes only bodies", "-i star.tab --ensemble 4 -o a.png");
    nbody_refuses(2, "'-1' is before the initial time", "-i star.tab --ensemble 4 --until -1");
}

/* Bodies without steps are written without the sum over all pairs; a table or --json asks for it.
 * The energies of a run without steps are those at the start of a run with steps. */
static void nbody_sums_energies_where_asked(void **unused)
{
    (void)unused;
    nbody_succeeds("-n 300 --steps 0 -o bodies.npy");
    assert_non_null(strstr(out, "energy        not computed: no steps"));
    nbody_succeeds("-n 300 --steps 0 -o bodies.npy --csv e.csv");
    assert_null(strstr(out, "not computed"));
    nbody_succeeds("-n 300 --steps 0 -o bodies.npy --json");
    json_t *none = nbody_report_json();
    nbody_succeeds("-n 300 --steps 1 --json");
    json_t *one = nbody_report_json();
    assert_true(nbody_json_number(none, "energy_end") == nbody_json_number(one, "energy_start"));
    json_decref(none);
    json_decref(one);
}

/* The solar system by name: the run of the shipped file, in its units, and its refusals. */
static void nbody_command_names_solar_system(void **unused)
{
    struct particles named, given;
    (void)unused;
    nbody_succeeds("--ic solar --until 36.5 -q -o named.tab");
    nbody_succeeds("-i \"$OLDPWD/../data/solar.tab\" --until 36.5 -q -o given.tab");
    works(particles_read(in_folder("named.tab"), &named));
    works(particles_read(in_folder("given.tab"), &given));
    assert_int_equal(named.n, 11);
    assert_memory_equal(named.pos, given.pos, 11 * sizeof *named.pos);
    assert_string_equal(named.note[NOTE_G], given.note[NOTE_G]);
    particles_free(&named);
    particles_free(&given);
    nbody_succeeds("--ic solar --ensemble 2 --steps 1 -q -o systems.tab");
    nbody_succeeds("--ic list");
    assert_non_null(strstr(out, "solar        the Sun, its planets"));
    nbody_refuses(2, "--ic solar and -n", "--ic solar -n 5");
    nbody_refuses(2, "--ic solar and --seed", "--ic solar --seed 5");
    nbody_refuses(2, "--ensemble", "--ic plummer --ensemble 2");
    nbody_refuses(2, "did you mean 'solar'", "--ic sola");
}

int main(int argc, char **argv)
{
    struct CMUnitTest tests[] = {
        cmocka_unit_test(nbody_sums_energies_where_asked),
        cmocka_unit_test(nbody_command_runs_in_field),
        cmocka_unit_test(nbody_command_reports_vanishing_step),
        cmocka_unit_test(nbody_command_adds_forces),
        cmocka_unit_test(nbody_command_keeps_time_of_forces),
        cmocka_unit_test(nbody_command_resume_judges_by_run),
        cmocka_unit_test(nbody_command_forces_follow_bodies),
        cmocka_unit_test(nbody_command_steps_planets_by_their_orbits),
        cmocka_unit_test(nbody_command_resumes_in_field),
        cmocka_unit_test(nbody_command_uses_per_body_softening),
        cmocka_unit_test(nbody_command_default_precision_is_named),
        cmocka_unit_test(nbody_command_default_for_few_bodies_is_ias15),
        cmocka_unit_test(nbody_command_steps_few_bodies_on_host),
        cmocka_unit_test(nbody_command_draws_end_beside_film),
        cmocka_unit_test_teardown(nbody_command_runs_few_bodies_without_devices, restore_drivers),
        cmocka_unit_test(nbody_command_runs_whfast),
        cmocka_unit_test(nbody_command_runs_trace),
        cmocka_unit_test(nbody_command_finds_events),
        cmocka_unit_test(nbody_command_rejects_coincident_bodies),
        cmocka_unit_test(nbody_command_rejects_distant_body),
        cmocka_unit_test(nbody_command_rejects_energy_beyond_float),
        cmocka_unit_test(nbody_command_merges_colliding_bodies),
        cmocka_unit_test(nbody_command_finds_contacts_within_steps),
        cmocka_unit_test(nbody_command_resumes_after_mergers_within_steps),
        cmocka_unit_test(nbody_command_resumes_after_merger),
        cmocka_unit_test(nbody_command_runs_ensemble_of_copies),
        cmocka_unit_test(nbody_command_runs_ensemble_by_whfast),
        cmocka_unit_test(nbody_command_reports_megno),
        cmocka_unit_test(nbody_command_runs_ensemble_of_files),
        cmocka_unit_test(nbody_command_names_solar_system)};
    if (argc != 2)
        return fprintf(stderr, "usage: test_nbody_command PATH_OF_STDCL\n"), 2;
    command = argv[1];
    return sampled_run("runs", tests, 1, 2, files_create, files_remove);
}
