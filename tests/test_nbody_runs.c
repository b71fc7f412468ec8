/* test_nbody_runs.c - what runs of `stdcl nbody` may have besides bodies that pull each other: fields of force.
 *
 *   test_nbody_runs PATH_OF_STDCL
 * SPDX-License-Identifier: MIT
 */
#include "nbody_command.h"

#include "formats/particles.h"

#include <math.h>

/* ---- Fields. ---------------------------------------------------------------------------------- */

/* A body of no mass circles a point, and a file remembers what it circles. */
static void in_fields(void **unused)
{
    struct particles p;
    (void)unused;
    put_text(in_folder("one.tab"), "0 1 0 0 0 1 0\n");
    good("-i one.tab --external point:0.75 --external point:0.25 --dt 2^-7 --until 6.283185307179586 --integrator hermite4 "
         "--precision double --json -o circled.tab");
    json_t *r = report();
    assert_string_equal(json_string_value(json_object_get(r, "external")), "point:0.75 point:0.25");
    json_decref(r);
    works(particles_read(in_folder("circled.tab"), &p));
    assert_string_equal(p.note[NOTE_external], "point:0.75 point:0.25");
    assert_true(fabs(p.pos[0][0] - 1) < 1e-8 && fabs(p.pos[0][1]) < 1e-8);
    particles_free(&p);
    good("-i circled.tab --steps 1 -o on.tab");
    assert_non_null(strstr(out, "\nexternal      point:0.75 point:0.25\n"));
    good("-i circled.tab --steps 1 --external none");
    assert_null(strstr(out, "external"));
    assert_non_null(strstr(err, "says external point:0.75 point:0.25; the command line's are taken"));
    refuses(2, "give --dt", "-i one.tab --external point:1");
    refuses(2, "'plummer:1' is no field", "-n 8 --external plummer:1");
    refuses(2, "'logarithmic:1,0' is no field", "-n 8 --external logarithmic:1,0");
    refuses(2, "'point:1,2' is no field", "-n 8 --external point:1,2");
    refuses(2, "--compare and --external", "-n 8 --compare --external point:1");
}

/* A run in a field goes on with the same bits, and in no other field. */
static void fields_go_on(void **unused)
{
    (void)unused;
    good("-n 50 --dt 1/64 --external plummer:1,0.5 --until 1 -q -o whole.npy");
    good("-n 50 --dt 1/64 --external plummer:1,0.5 --until 0.5 -q -o part.npy --checkpoint c.ckpt");
    good("--resume c.ckpt --until 1 -q");
    size_t size[2];
    char *bytes[2] = {bytes_of(in_folder("whole.npy"), size), bytes_of(in_folder("part.npy"), size + 1)};
    assert_int_equal(size[0], size[1]);
    assert_memory_equal(bytes[0], bytes[1], size[0]);
    free(bytes[0]);
    free(bytes[1]);
    refuses(2, "other values of --external", "--resume c.ckpt --external plummer:1,0.25");
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(in_fields), cmocka_unit_test(fields_go_on)};
    if (argc != 2)
        return fprintf(stderr, "usage: test_nbody_runs PATH_OF_STDCL\n"), 2;
    command = argv[1];
    return cmocka_run_group_tests(tests, files_create, files_remove);
}
