/* test_nbody_orbits.c - bodies given by orbital elements, their names, and elements over time.
 *
 *   test_nbody_orbits PATH_OF_STDCL
 * SPDX-License-Identifier: MIT
 */
#include "nbody_command.h"

#include "formats/particles_format.h"

#include <errno.h>
#include <math.h>

/* Let the command convert `text`, and read the result. */
static struct particles orbits_convert(const char *text)
{
    struct particles p;
    put_text(in_folder("in.tab"), text);
    nbody_succeeds("-i in.tab --steps 0 --dt 1 -q -o out.tab");
    works(particles_read(in_folder("out.tab"), &p));
    return p;
}

static void orbits_near(double value, double expected, double error)
{
    if (!(fabs(value - expected) <= error))
        fail_msg("%.17g is not within %g of %.17g", value, error, expected);
}

/* Distance of bodies i and j, or their relative speed. */
static double orbits_apart(const double (*x)[3], size_t i, size_t j)
{
    return hypot(hypot(x[i][0] - x[j][0], x[i][1] - x[j][1]), x[i][2] - x[j][2]);
}

/* ---- Elements. ------------------------------------------------------------------------------- */

/* Closed forms at the pericentre, r = a (1 - e) and v^2 = G M (1 + e) / r, in all spellings of the
 * angles: the longitude is 60 degrees. */
static void orbits_at_pericentre_have_closed_form(void **unused)
{
    static const char *const angles[] = {
        "omega M\nS 3\nP 1 2 0.5 60 360\n",   "pomega M\nS 3\nP 1 2 0.5 60 0\n",
        "omega f\nS 3\nP 1 2 0.5 60 0\n",     "pomega l\nS 3\nP 1 2 0.5 60 60\n",
        "omega l\nS 3\nP 1 2 0.5 -300 420\n",
    };
    (void)unused;
    for (size_t i = 0; i < sizeof angles / sizeof *angles; i++) {
        char text[200];
        snprintf(text, sizeof text, "# G = 5\n# angles = degrees\n# name m a e %s", angles[i]);
        struct particles p = orbits_convert(text);
        const double speed = sqrt(5 * 4 * 1.5), x = p.pos[1][0] - p.pos[0][0],
                     y = p.pos[1][1] - p.pos[0][1];
        orbits_near(x, cos(acos(-1) / 3), 1e-14);
        orbits_near(y, sin(acos(-1) / 3), 1e-14);
        orbits_near(orbits_apart((const double(*)[3])p.vel, 0, 1), speed, 1e-14 * speed);
        for (int k = 0; k < 3; k++) { /* the centre of mass rests in the origin */
            orbits_near(3 * p.pos[0][k] + p.pos[1][k], 0, 1e-14);
            orbits_near(3 * p.vel[0][k] + p.vel[1][k], 0, 1e-14);
        }
        particles_free(&p);
    }
}

/* A hyperbola at the true anomaly f: r = a (1 - e^2) / (1 + e cos f), v^2 = G M (2 / r - 1 / a). On
 * a retrograde circle in the plane z = 0 a mean longitude is the angle from the x axis. */
static void orbits_of_other_kinds_have_closed_forms(void **unused)
{
    (void)unused;
    struct particles p =
        orbits_convert("# G = 5\n# name m a e inc Omega omega f\nS 3\nP 1 -2 3 0.4 1 2 -1.5\n");
    const double r = -2 * (1 - 9.) / (1 + 3 * cos(-1.5));
    orbits_near(orbits_apart((const double(*)[3])p.pos, 0, 1), r, 1e-13 * r);
    orbits_near(orbits_apart((const double(*)[3])p.vel, 0, 1), sqrt(5 * 4 * (2 / r + 0.5)), 1e-13);
    particles_free(&p);
    p = orbits_convert("# G = 5\n# angles = degrees\n# name m a e inc Omega pomega l\n"
                       "S 3\nP 1 2 0 180 50 20 30\n");
    orbits_near(p.pos[1][0] - p.pos[0][0], 2 * cos(acos(-1) / 6), 1e-14);
    orbits_near(p.pos[1][1] - p.pos[0][1], 2 * sin(acos(-1) / 6), 1e-14);
    particles_free(&p);
}

/* Elements without a column are 0. Words of a sentence are no columns. */
static void orbits_may_have_few_columns(void **unused)
{
    static const char *const columns[] = {"m a\n4\n1 2\n", "name m a\nS 4\nP 1 2\n",
                                          "a m inc\n- 4 -\n2 1 0\n", "m a M\n4\n1 2 0\n",
                                          "m a Omega l\n4\n1 2 0 0\n"};
    (void)unused;
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        char text[120];
        snprintf(text, sizeof text, "# G = 5\n# %s", columns[i]);
        struct particles p = orbits_convert(text);
        orbits_near(p.pos[1][0] - p.pos[0][0], 2, 1e-14);
        orbits_near(p.vel[1][1] - p.vel[0][1], sqrt(5 * 5 / 2.), 1e-14);
        orbits_near(orbits_apart((const double(*)[3])p.vel, 0, 1), sqrt(5 * 5 / 2.), 1e-14);
        particles_free(&p);
    }
    struct particles p = orbits_convert("# the mass of a star\n# e\n1 2 3 4 5 6 7\n");
    assert_true(p.n == 1 && p.pos[0][2] == 4);
    particles_free(&p);
}

/* A moon about its planet, by name and by number, and an outer body about the centre of mass of all
 * bodies before it. */
static void orbits_have_primaries(void **unused)
{
    static const char *const moons[] = {"Earth", "2"};
    (void)unused;
    for (int k = 0; k < 2; k++) {
        char text[300];
        snprintf(text, sizeof text,
                 "# G = 1\n# name mass a e primary radius\nSun 4\nEarth 2 10 0 Sun 0.5\n"
                 "Moon 1 0.25 0 %s 0.125\nOuter 3 100 0 - 1\n",
                 moons[k]);
        struct particles p = orbits_convert(text);
        const double(*x)[3] = (const double(*)[3])p.pos, (*v)[3] = (const double(*)[3])p.vel;
        orbits_near(x[1][0] - x[0][0], 10, 1e-14);
        orbits_near(v[1][1] - v[0][1], sqrt(6. / 10), 1e-14);
        orbits_near(x[2][0] - x[1][0], 0.25, 1e-14);
        orbits_near(v[2][1] - v[1][1], sqrt(3 / 0.25), 1e-14);
        const double centre = (4 * x[0][0] + 2 * x[1][0] + x[2][0]) / 7,
                     speed = (4 * v[0][1] + 2 * v[1][1] + v[2][1]) / 7;
        orbits_near(x[3][0] - centre, 100, 1e-12);
        orbits_near(v[3][1] - speed, sqrt(10. / 100), 1e-14);
        assert_true(p.radius[2] == 0.125 && p.radius[0] == 0);
        particles_free(&p);
    }
}

/* The solar system of the almanac as elements about the Sun, and back. */
static void orbits_of_the_solar_system_return(void **unused)
{
    char line[PATH_MAX + 100], *table, *row;
    struct particles sun, p;
    FILE *fp;
    (void)unused;
    works(particles_read("../data/solar.tab", &sun));
    char source[PATH_MAX];
    assert_non_null(realpath("../data/solar.tab", source));
    snprintf(line, sizeof line, "-i '%s' --steps 0 --dt 1 -q --elements e.csv", source);
    nbody_succeeds(line);
    table = bytes_of(in_folder("e.csv"), NULL);
    fp = fopen(in_folder("in.tab"), "w");
    fprintf(fp, "# G = %s\n# a e inc Omega omega M mass name primary\n- - - - - - 1 Sun\n",
            sun.note[NOTE_G]);
    row = strchr(table, '\n') + 1;
    for (size_t i = 1; i < sun.n; i++, row = strchr(row, '\n') + 1) {
        double e[9];
        char name[64];
        assert_int_equal(sscanf(row, "%lf,%lf,%lf,%lf,%lf,%lf,%lf,%lf,%lf,%63s", e, e + 1, e + 2,
                                e + 3, e + 4, e + 5, e + 6, e + 7, e + 8, name),
                         10);
        fprintf(fp, "%.17g %.17g %.17g %.17g %.17g %.17g %.17g %s Sun\n", e[2], e[3], e[4], e[5],
                e[6], e[7], sun.mass[i], name);
    }
    fclose(fp);
    free(table);
    nbody_succeeds("-i in.tab --steps 0 --dt 1 -q -o out.tab");
    works(particles_read(in_folder("out.tab"), &p));
    assert_int_equal(p.n, sun.n);
    assert_string_equal(p.note[NOTE_names], sun.note[NOTE_names]);
    for (size_t i = 0; i < sun.n; i++)
        for (int k = 0; k < 3; k++) { /* the file's barycentre is rounded to 10 digits */
            orbits_near(p.pos[i][k] - p.pos[0][k], sun.pos[i][k] - sun.pos[0][k], 1e-12);
            orbits_near(p.vel[i][k] - p.vel[0][k], sun.vel[i][k] - sun.vel[0][k], 1e-14);
            orbits_near(p.pos[i][k], sun.pos[i][k], 2e-9);
        }
    particles_free(&p);
    particles_free(&sun);
}

static void orbits_reject_bad_columns(void **unused)
{
    static const struct {
        const char *text, *part;
    } cases[] = {
        {"# m a e i Omega omega M\n1\n", "bad:1: no column is called 'i'; orbital elements are"},
        {"# m a e x\n1\n", "bad:1: columns contradict each other"},
        {"# m a e M f\n1\n", "bad:1: columns contradict each other"},
        {"# m a e omega pomega\n1\n", "bad:1: columns contradict each other"},
        {"# m a e a\n1\n", "bad:1: columns contradict each other"},
        {"# angles = grad\n# m a e\n1\n", "bad:1: angles are radians or degrees, not 'grad'"},
        {"# m a e\n1 2 0\n", "bad:2: the first body has a name and a mass, but no orbit"},
        {"# m a e\n1\n1 2\n", "bad:3: 2 columns instead of 3 (mass a e)"},
        {"# m a e\n1\n1 2 0 4\n", "bad:3: more than 3 columns (mass a e); the next is '4'"},
        {"# m a e\n1\n1 2 1\n", "bad:3: no orbit has a = 2 and e = 1"},
        {"# m a e\n1\n1 -2 0.5\n", "bad:3: no orbit has a = -2 and e = 0.5"},
        {"# m a e f\n1\n1 -2 2 3\n", "bad:3: a hyperbola with e = 2 does not reach f = 3"},
        {"# m a foo inc\n1\n", "bad:1: no column is called 'foo'"},
        {"# m e inc\n1\n", "bad:1: orbital elements need the column a"},
        {"# a e\n1\n", "bad:1: orbital elements need the column mass"},
        {"# m a\n1\n1 2 0.1\n", "bad:3: more than 2 columns (mass a); the next is '0.1'"},
        {"# name m a primary\nS 1\nX 0 1 S\nX 0 2 S\nY 0 1 X\n",
         "bad:5: bodies 2 and 3 are both called X; give the number of the primary"},
        {"# m a e primary\n1\n1 2 0 Sun\n", "bad:3: the primary 'Sun' is no body above"},
        {"# m a e primary\n1\n1 2 0 2\n", "bad:3: the primary '2' is no body above"},
        {"# m a e\n1\n1 2 x\n", "bad:3: 'x' in column 3 (e) is not a number"},
        {"# name mass x y z vx vy vz\nA 1 2 3 4 5 6\n", "bad:2: 7 columns instead of 8"},
    };
    struct particles p;
    (void)unused;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        fails_saying(EINVAL, particles_read_memory("bad", cases[i].text, strlen(cases[i].text), &p),
                     cases[i].part);
}

/* ---- Names. ---------------------------------------------------------------------------------- */

static void check_name(const struct particles *p, size_t i, const char *expected)
{
    char name[PARTICLES_NAME_SIZE] = "";
    assert_int_equal(particles_name(p, i, name), expected != NULL);
    assert_string_equal(name, expected ? expected : "");
}

/* Rules of events and forces refuse a name of several bodies, and find names with commas. */
static void orbits_names_in_rules_are_unique(void **unused)
{
    static const char *const names[] = {"\"A,B\"", "4"};
    struct particles p;
    char *table[2];
    (void)unused;
    put_text(in_folder("twice.tab"), "# G = 1\n# name m a e\nS 1\nX 0 1 0.1\nX 0 2 0.1\n"
                                     "A,B 0 3 0.1\n");
    nbody_refuses(2, "'apsis:X': bodies 2 and 3 are both called X; give a number",
                  "-i twice.tab --until 1 --event apsis:X --events no.csv");
    nbody_refuses(2, "'escape:9,S,X': bodies 2 and 3 are both called X",
                  "-i twice.tab --until 1 --stop-event escape:9,S,X");
    nbody_refuses(2, "first=X': bodies 2 and 3 are both called X; give a number",
                  "-i twice.tab --dt 1 --external radiation:beta=0.1,first=X");
    nbody_refuses(2, "'B' names none of the 4 bodies; give a name (in quotes if it has a comma)",
                  "-i twice.tab --until 1 --event apsis:A,B --events no.csv");
    nbody_refuses(2, "last=2' acts on none of the 4 bodies: its last body is before the first",
                  "-i twice.tab --dt 1 --external radiation:beta=0.1,first=3,last=2");
    nbody_refuses(2, "acts on none of the 4 bodies",
                  "-i twice.tab --dt 1 --external radiation:beta=0.1,last=S");
    for (int k = 0; k < 2; k++) {
        char line[300];
        snprintf(line, sizeof line,
                 "-i twice.tab --until 40 --event 'apsis:%s,1' --events e.csv -q -o end.hdf5 "
                 "--external 'radiation:beta=0.1,first=%s,c=1e9' --integrator ias15 --dt 1",
                 names[k], names[k]);
        nbody_succeeds(line);
        works(particles_read(in_folder("end.hdf5"), &p));
        assert_string_equal(p.note[NOTE_external], k ? "radiation:beta=0.1,first=4,c=1e9"
                                                     : "radiation:beta=0.1,first=\"A,B\",c=1e9");
        particles_free(&p);
        table[k] = bytes_of(in_folder("e.csv"), NULL);
        assert_non_null(strstr(table[k], "apocentre"));
        nbody_succeeds("-i end.hdf5 --until 41 -q"); /* which finds the name in the metadata */
    }
    assert_string_equal(table[0], table[1]);
    free(table[0]);
    free(table[1]);
}

/* A column, a comment of one word after the numbers; other comments are none. */
static void orbits_names_are_kept(void **unused)
{
    static const char column[] =
        "# name radius vx vy vz x y z m\nA 1 2 3 4 5 6 7 8\n- 0 0 0 0 0 0 0 1\n"
        "C,1 0 0 0 0 0 0 9 1\n",
                      comment[] =
                          "8 5 6 7 2 3 4 #A\n1 0 0 0 0 0 0 # no name\n1 0 0 9 0 0 0 # C,1\n";
    struct particles p, q;
    (void)unused;
    for (int k = 0; k < 2; k++) {
        const char *text = k ? comment : column;
        works(particles_read_memory("names", text, strlen(text), &p));
        assert_true(p.mass[0] == 8 && p.pos[0][2] == 7 && p.vel[0][0] == 2 && p.n == 3);
        check_name(&p, 0, "A");
        check_name(&p, 1, NULL);
        check_name(&p, 2, "C,1");
        check_name(&p, 3, NULL);
        works(particles_write(in_folder("names.tab"), &p, NULL));
        works(particles_read(in_folder("names.tab"), &q));
        check_name(&q, 2, "C,1");
        assert_true(q.mass[0] == 8 && !q.radius == !p.radius);
        particles_free(&q);
        if (particles_write(in_folder("names.hdf5"), &p, NULL) == 0) {
            works(particles_read(in_folder("names.hdf5"), &q));
            check_name(&q, 0, "A");
            check_name(&q, 1, NULL);
            particles_free(&q);
        }
        works(particles_remove_name(&p, 0));
        check_name(&p, 0, NULL);
        check_name(&p, 1, "C,1");
        particles_free(&p);
    }
    works(particles_read_memory("none", "1 0 0 0 0 0 0 # 12\n", 19, &p));
    assert_null(p.note[NOTE_names]);
    particles_free(&p);
}

static void orbits_names_of_many_bodies_are_dropped(void **unused)
{
    enum { BODIES = 9000 };
    struct particles p;
    FILE *fp = fopen(in_folder("many.tab"), "w");
    (void)unused;
    for (int i = 0; i < BODIES; i++)
        fprintf(fp, "1 %d 0 0 0 0 0 # body%d\n", i, i);
    fclose(fp);
    works(particles_read(in_folder("many.tab"), &p));
    assert_true(p.n == BODIES && !p.note[NOTE_names]);
    assert_string_equal(p.missing, "names of more than 60000 bytes (none is kept)");
    particles_free(&p);
}

/* Outputs of a run use names, and a merger removes the name of the absorbed body. */
static void orbits_outputs_have_names(void **unused)
{
    struct particles p;
    (void)unused;
    put_text(in_folder("pair.tab"),
             "# G = 1\n# name mass a e radius\nSun 1 - - 0.01\n"
             "Near 1e-6 1 0 0.01\nTwin 1e-7 1.001 0 0.01\nFar 1e-6 9 0 0.01\n");
    nbody_succeeds("-i pair.tab --until 0.125 --dt 1/64 --check-step --json --elements e.csv");
    json_t *r = nbody_report_json(),
           *most = json_object_get(json_object_get(r, "step_errors"), "most");
    assert_int_equal(json_array_size(most), 4);
    assert_true(json_is_string(json_object_get(json_array_get(most, 3), "name")));
    json_decref(r);
    load_nbody_file("e.csv", out, sizeof out);
    assert_non_null(strstr(out, ",period,name\n0.125,2,"));
    assert_non_null(strstr(out, ",Far\n"));
    nbody_succeeds(
        "-i pair.tab --until 0.125 --dt 1/64 --integrator leapfrog --collide merge -q -o "
        "merged.tab");
    works(particles_read(in_folder("merged.tab"), &p));
    assert_string_equal(p.note[NOTE_names], "Sun Near Far");
    particles_free(&p);
}

/* ---- Over time. ------------------------------------------------------------------------------ */

/* A lone planet keeps its orbit while its mean anomaly grows by 2 pi a period; a run in two parts
 * has the bytes of one. */
static void orbits_over_time_follow_kepler(void **unused)
{
    (void)unused;
    put_text(in_folder("kepler.tab"), "# G = 1\n# name mass a e\nSun 1\nPlanet 0 1 0.5\n");
    nbody_succeeds(
        "-i kepler.tab --until 6 --dt 1/256 --diag 1 --integrator hermite4 -q --elements "
        "one.csv");
    load_nbody_file("one.csv", out, sizeof out);
    const char *row = strchr(out, '\n') + 1;
    for (int t = 0; t <= 6; t++, row = strchr(row, '\n') + 1) {
        double e[9];
        assert_int_equal(sscanf(row, "%lf,%lf,%lf,%lf,%lf,%lf,%lf,%lf,%lf,Planet\n", e, e + 1,
                                e + 2, e + 3, e + 4, e + 5, e + 6, e + 7, e + 8),
                         9);
        assert_true(e[0] == t && e[1] == 2);
        orbits_near(e[2], 1, 1e-7);
        orbits_near(e[3], 0.5, 1e-7);
        orbits_near(remainder(e[6] + e[7] - t, 2 * acos(-1)), 0, 1e-6);
    }
    assert_true(*row == 0);
    nbody_succeeds("-i kepler.tab --until 2.503 --dt 1/256 --diag 1 --integrator hermite4 -q "
                   "--elements two.csv --checkpoint o.ckpt");
    nbody_succeeds("--resume o.ckpt --until 6 -q");
    char *one = bytes_of(in_folder("one.csv"), NULL), *two = bytes_of(in_folder("two.csv"), NULL);
    assert_string_equal(one, two);
    free(one);
    free(two);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(orbits_at_pericentre_have_closed_form),
        cmocka_unit_test(orbits_of_other_kinds_have_closed_forms),
        cmocka_unit_test(orbits_may_have_few_columns),
        cmocka_unit_test(orbits_have_primaries),
        cmocka_unit_test(orbits_of_the_solar_system_return),
        cmocka_unit_test(orbits_reject_bad_columns),
        cmocka_unit_test(orbits_names_in_rules_are_unique),
        cmocka_unit_test(orbits_names_are_kept),
        cmocka_unit_test(orbits_names_of_many_bodies_are_dropped),
        cmocka_unit_test(orbits_outputs_have_names),
        cmocka_unit_test(orbits_over_time_follow_kepler),
    };
    if (argc != 2)
        return fprintf(stderr, "usage: test_nbody_orbits PATH_OF_STDCL\n"), 2;
    command = argv[1];
    return cmocka_run_group_tests(tests, files_create, files_remove);
}
