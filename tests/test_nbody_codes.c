/* test_nbody_codes.c - HDF5 snapshots in the shape that GADGET-4, AREPO, SWIFT and GIZMO write:
 * units, gravitational constant, softenings, cosmology, boxes, particle types, several files.
 *
 * The files are made by libhdf5, with the attributes that the codes' guides and writers name.
 *
 *   test_nbody_codes PATH_OF_STDCL
 * SPDX-License-Identifier: MIT
 */
#include "nbody_command.h"
#include "particles_parts.h"
#include "formats/particles_format.h"

#include <errno.h>
#include <hdf5.h>
#include <math.h>

static const double KPC = 3.085678e21, SOLAR = 1.989e43, KMS = 1e5;

/* ---- Writing. -------------------------------------------------------------------------------- */

static hid_t file;

static void codes_open(const char *name)
{
    file = H5Fcreate(in_folder(name), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(file >= 0);
}

static void codes_close(void)
{
    assert_true(H5Fclose(file) >= 0);
}

static hid_t codes_group(const char *name)
{
    const hid_t group = H5Lexists(file, name, H5P_DEFAULT) > 0
                            ? H5Gopen2(file, name, H5P_DEFAULT)
                            : H5Gcreate2(file, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(group >= 0);
    return group;
}

/* Write n numbers as an attribute, or a scalar for 0. */
static void codes_numbers(const char *in, const char *name, size_t n, const double *x)
{
    const hsize_t size = n;
    const hid_t group = codes_group(in),
                space = n ? H5Screate_simple(1, &size, NULL) : H5Screate(H5S_SCALAR),
                attribute =
                    H5Acreate2(group, name, H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(H5Awrite(attribute, H5T_NATIVE_DOUBLE, x) >= 0);
    H5Aclose(attribute);
    H5Sclose(space);
    H5Gclose(group);
}

static void codes_scalar(const char *group, const char *name, double x)
{
    codes_numbers(group, name, 0, &x);
}

/* SWIFT's scalars are arrays of one. */
static void codes_single(const char *group, const char *name, double x)
{
    codes_numbers(group, name, 1, &x);
}

static void codes_text(const char *in, const char *name, const char *text)
{
    const hid_t group = codes_group(in), space = H5Screate(H5S_SCALAR), type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, strlen(text) + 1);
    const hid_t attribute = H5Acreate2(group, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(H5Awrite(attribute, type, text) >= 0);
    H5Aclose(attribute);
    H5Tclose(type);
    H5Sclose(space);
    H5Gclose(group);
}

static void codes_set(const char *in, const char *name, hsize_t n, hsize_t columns, const double *x)
{
    const hsize_t size[2] = {n, columns};
    const hid_t group = codes_group(in), space = H5Screate_simple(columns > 1 ? 2 : 1, size, NULL),
                set = H5Dcreate2(group, name, H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT,
                                 H5P_DEFAULT);
    assert_true(H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, x) >= 0);
    H5Dclose(set);
    H5Sclose(space);
    H5Gclose(group);
}

/* Bodies of a type: body i has mass 1 + i / 8, coordinates first + i, and velocities -i. */
static void codes_bodies(const char *group, size_t n, double first, const char *masses)
{
    double x[48], v[48], m[16], id[16];
    for (size_t i = 0; i < n; i++) {
        m[i] = 1 + (double)i / 8;
        id[i] = 100 + first + (double)i;
        for (size_t k = 0; k < 3; k++) {
            x[3 * i + k] = first + (double)i;
            v[3 * i + k] = -(double)i;
        }
    }
    codes_set(group, "Coordinates", n, 3, x);
    codes_set(group, "Velocities", n, 3, v);
    codes_set(group, "ParticleIDs", n, 1, id);
    if (masses)
        codes_set(group, masses, n, 1, m);
}

static void codes_header(size_t types, const double *n, const double *total, double files,
                         double time)
{
    const double none[8] = {0};
    codes_numbers("Header", "NumPart_ThisFile", types, n);
    codes_numbers("Header", "NumPart_Total", types, total);
    codes_numbers("Header", "MassTable", types, none);
    codes_scalar("Header", "NumFilesPerSnapshot", files);
    codes_scalar("Header", "Time", time);
}

/* Three dark matter bodies and two stars, as GADGET-4 ("Class") or AREPO ("Type") writes them. */
static void codes_gadget(const char *name, const char *kind, double G, double comoving,
                         double redshift, double box)
{
    const double n[6] = {0, 3, 0, 0, 2, 0};
    char attribute[64];
    codes_open(name);
    codes_header(6, n, n, 1, 0.5);
    codes_scalar("Header", "Redshift", redshift);
    codes_scalar("Header", "BoxSize", box);
    codes_scalar("Parameters", "UnitLength_in_cm", KPC);
    codes_scalar("Parameters", "UnitMass_in_g", SOLAR);
    codes_scalar("Parameters", "UnitVelocity_in_cm_per_s", KMS);
    codes_scalar("Parameters", "GravityConstantInternal", G);
    codes_scalar("Parameters", "ComovingIntegrationOn", comoving);
    codes_scalar("Parameters", "Omega0", 0.3);
    for (int type = 0; type < 6; type++) {
        snprintf(attribute, sizeof attribute, "Softening%sOfPartType%d", kind, type);
        codes_scalar("Parameters", attribute, type == 4);
    }
    snprintf(attribute, sizeof attribute, "SofteningComoving%s0", kind);
    codes_scalar("Parameters", attribute, 0.25);
    snprintf(attribute, sizeof attribute, "SofteningComoving%s1", kind);
    codes_scalar("Parameters", attribute, 0.125);
    codes_scalar("Config", "NTYPES", 6);
    codes_bodies("PartType1", 3, -1, "Masses");
    codes_bodies("PartType4", 2, 7, "Masses");
}

static void codes_read(const char *name, struct particles *p)
{
    if (particles_read(in_folder(name), p) < 0)
        fail_msg("%s", clerror());
}

static void check_near(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-9 * fabs(expected)))
        fail_msg("%.17g is not %.17g", value, expected);
}

/* ---- Units and G. ---------------------------------------------------------------------------- */

static void codes_gadget4_has_its_own_constant(void **unused)
{
    struct particles p;
    (void)unused;
    for (int k = 0; k < 2; k++) {
        codes_gadget("g.hdf5", k ? "Type" : "Class", 1, 0, 0, 0);
        codes_close();
        codes_read("g.hdf5", &p);
        check_near(particles_number(&p, NOTE_G), 1);
        check_near(particles_number(&p, NOTE_UnitLength_in_cm), KPC);
        assert_non_null(strstr(p.origin,
                               "G 1 from Parameters/GravityConstantInternal, units "
                               "3.08568e+21 cm, 1.989e+43 g and 100000 cm/s, softenings by "
                               "type from Parameters/SofteningComoving"));
        assert_true(p.n == 5 && p.star == 2 && !p.space);
        for (size_t i = 0; i < 5; i++)
            assert_true(p.softening[i] == (i < 3 ? 0.25 : 0.125));
        particles_free(&p);
    }
}

/* A constant of 0 means Newton's, in the units: 43007.1 in GADGET's, to the digits of its G. */
static void codes_gadget4_derives_constant(void **unused)
{
    struct particles p;
    (void)unused;
    codes_gadget("g.hdf5", "Class", 0, 0, 0, 0);
    codes_close();
    codes_read("g.hdf5", &p);
    assert_true(fabs(particles_number(&p, NOTE_G) / 43007.1 - 1) < 4e-4);
    assert_non_null(strstr(p.origin, "from the units"));
    particles_free(&p);
}

/* Internal units are half the length, a third of the mass and a quarter of the time of the file. */
static void codes_swift(const char *name, double cosmological, const char *periodic,
                        double neutrinos)
{
    const double n[7] = {0, 3, 0, 0, 2, 1, neutrinos}, box[3] = {50, 50, 50};
    codes_open(name);
    codes_header(7, n, n, 1, 0.5);
    codes_numbers("Header", "BoxSize", 3, box);
    codes_single("Cosmology", "Cosmological run", cosmological);
    codes_single("Cosmology", "Omega_m", 0.3);
    codes_single("Units", "Unit length in cgs (U_L)", KPC);
    codes_single("Units", "Unit mass in cgs (U_M)", SOLAR);
    codes_single("Units", "Unit time in cgs (U_t)", KPC / KMS);
    codes_single("InternalCodeUnits", "Unit length in cgs (U_L)", KPC / 2);
    codes_single("InternalCodeUnits", "Unit mass in cgs (U_M)", SOLAR / 3);
    codes_single("InternalCodeUnits", "Unit time in cgs (U_t)", KPC / KMS / 4);
    H5Gclose(codes_group("PhysicalConstants"));
    codes_single("PhysicalConstants/InternalUnits", "newton_G", 2);
    codes_single("GravityScheme",
                 "Maximal physical DM softening length (Plummer equivalent) [internal units]", 0.5);
    codes_single("GravityScheme",
                 "Maximal physical baryon softening length (Plummer equivalent) [internal units]",
                 1);
    codes_text("Parameters", "InitialConditions:periodic", periodic);
    codes_bodies("PartType1", 3, 1, "Masses");
    codes_bodies("PartType4", 2, 7, "Masses");
    codes_bodies("PartType5", 1, 10, "DynamicalMasses");
}

static void codes_swift_units_are_converted(void **unused)
{
    struct particles p;
    (void)unused;
    codes_swift("s.hdf5", 0, "0", 1);
    codes_bodies("PartType6", 1, 20, "Masses");
    codes_close();
    codes_read("s.hdf5", &p);
    /* G in L^3 / (M T^2): 2 (1/2)^3 / ((1/3) (1/4)^2) */
    check_near(particles_number(&p, NOTE_G), 2 * 0.125 * 3 * 16);
    check_near(particles_number(&p, NOTE_UnitVelocity_in_cm_per_s), KMS);
    assert_true(p.n == 7 && p.star == 0 && p.mass[5] == 1 && p.pos[6][0] == 20 && !p.space);
    assert_null(p.softening); /* neutrinos have none in the header */
    particles_free(&p);
    codes_swift("s.hdf5", 0, "0", 0);
    codes_close();
    codes_read("s.hdf5", &p);
    assert_int_equal(p.n, 6);
    for (size_t i = 0; i < 6; i++)
        check_near(p.softening[i], i < 3 ? 0.25 : 0.5);
    particles_free(&p);
}

static void codes_gizmo(const char *name, double comoving)
{
    const double n[6] = {0, 3, 0, 0, 0, 0}, extent[6] = {280, 0.28, 0, 0, 1, 1};
    codes_open(name);
    codes_header(6, n, n, 1, 0.5);
    codes_scalar("Header", "UnitLength_In_CGS", KPC);
    codes_scalar("Header", "UnitMass_In_CGS", SOLAR);
    codes_scalar("Header", "UnitVelocity_In_CGS", KMS);
    codes_scalar("Header", "Gravitational_Constant_In_Code_Inits", 43007.1);
    codes_numbers("Header", "Fixed_ForceSoftening_Keplerian_Kernel_Extent", 6, extent);
    codes_scalar("Header", "Omega_Matter", 0.3);
    codes_scalar("Header", "ComovingIntegrationOn", comoving);
    codes_bodies("PartType1", 3, -1, "Masses");
}

static void codes_gizmo_header_is_read(void **unused)
{
    struct particles p;
    (void)unused;
    codes_gizmo("z.hdf5", 0);
    codes_close();
    codes_read("z.hdf5", &p);
    check_near(particles_number(&p, NOTE_G), 43007.1);
    check_near(particles_number(&p, NOTE_UnitMass_in_g), SOLAR);
    check_near(particles_number(&p, NOTE_softening), 0.1);
    assert_true(!p.softening && !p.space);
    particles_free(&p);
}

/* ---- The space. ------------------------------------------------------------------------------ */

static void check_space(const char *name, const char *part)
{
    struct particles p;
    codes_read(name, &p);
    if (part && (!p.space || !strstr(p.space, part)))
        fail_msg("'%s' instead of '%s'", p.space ? p.space : "static", part);
    if (!part && p.space)
        fail_msg("%s", p.space);
    particles_free(&p);
}

static void codes_cosmology_follows_the_flag(void **unused)
{
    (void)unused;
    codes_gadget("c.hdf5", "Class", 1, 1, 1, 0);
    codes_close();
    check_space("c.hdf5", "is of a cosmological run (Parameters/ComovingIntegrationOn is 1)");
    codes_swift("c.hdf5", 1, "0", 0);
    codes_close();
    check_space("c.hdf5", "is of a cosmological run (Cosmology/Cosmological run is 1)");
    codes_gizmo("c.hdf5", 1);
    codes_close();
    check_space("c.hdf5", "is of a cosmological run (Header/ComovingIntegrationOn is 1)");
    codes_gadget("c.hdf5", "Class", 1, 0, 1, 0); /* although 0.5 would be the scale factor */
    codes_close();
    check_space("c.hdf5", NULL);
}

/* Without a flag, a time that is no scale factor shows an isolated system. */
static void codes_omega_alone_does_not_decide(void **unused)
{
    const double n[6] = {0, 3, 0, 0, 0, 0};
    (void)unused;
    for (int k = 0; k < 3; k++) { /* scale factor 0.5; an isolated galaxy at time 0.5; unknown */
        codes_open("o.hdf5");
        codes_header(6, n, n, 1, 0.5);
        codes_scalar("Header", "Omega0", 0.3);
        if (k < 2)
            codes_scalar("Header", "Redshift", k == 0);
        codes_bodies("PartType1", 3, -1, "Masses");
        codes_close();
        check_space("o.hdf5", k == 1 ? NULL
                                     : "may be of a cosmological run (Header/Omega0 is 0.3, and "
                                       "its time, 0.5, may be a scale factor)");
    }
}

static void codes_periodic_box_is_found(void **unused)
{
    const double n[6] = {0, 3, 0, 0, 0, 0};
    (void)unused;
    codes_swift("b.hdf5", 0, "1", 0);
    codes_close();
    check_space("b.hdf5",
                "is of a periodic box (Parameters/InitialConditions:periodic) with a side "
                "of 50");
    codes_gadget("b.hdf5", "Class", 1, 0, 0, 80);
    codes_text("Config", "PERIODIC", "");
    codes_close();
    check_space("b.hdf5", "is of a periodic box (Config/PERIODIC) with a side of 80");
    codes_gadget("b.hdf5", "Type", 1, 0, 0, 80);
    codes_scalar("Parameters", "PeriodicBoundariesOn", 1);
    codes_close();
    check_space("b.hdf5", "is of a periodic box (Parameters/PeriodicBoundariesOn)");
    codes_gadget("b.hdf5", "Type", 1, 0, 0, 80);
    codes_scalar("Parameters", "PeriodicBoundariesOn", 1);
    codes_text("Config", "GRAVITY_NOT_PERIODIC", "");
    codes_close();
    check_space("b.hdf5", NULL);
    for (int k = 0; k < 2; k++) { /* no flag: bodies in the box, or about the origin */
        codes_open("b.hdf5");
        codes_header(6, n, n, 1, 0.5);
        codes_scalar("Header", "BoxSize", 10);
        codes_bodies("PartType1", 3, k ? -1 : 0, "Masses");
        codes_close();
        check_space("b.hdf5", k ? NULL : "may be of a periodic box: all bodies lie in the box");
    }
}

/* ---- The command. ---------------------------------------------------------------------------- */

/* A Plummer sphere in N-body units that GADGET-4 ran with G = 1, although its parameters have the
 * units of galaxies: in virial equilibrium for G = 1 only. */
static void codes_plummer_of_gadget4_is_in_equilibrium(void **unused)
{
    const double n[6] = {0, 400, 0, 0, 0, 0};
    struct particles p;
    (void)unused;
    nbody_succeeds("-n 400 --steps 0 -q -o plummer.npy");
    codes_read("plummer.npy", &p);
    codes_open("plummer.hdf5");
    codes_header(6, n, n, 1, 3);
    codes_scalar("Header", "BoxSize", 0);
    codes_scalar("Parameters", "UnitLength_in_cm", KPC);
    codes_scalar("Parameters", "UnitMass_in_g", SOLAR);
    codes_scalar("Parameters", "UnitVelocity_in_cm_per_s", KMS);
    codes_scalar("Parameters", "GravityConstantInternal", 1);
    codes_scalar("Parameters", "ComovingIntegrationOn", 0);
    codes_scalar("Parameters", "SofteningClassOfPartType1", 0);
    codes_scalar("Parameters", "SofteningComovingClass0", 0.015625);
    codes_set("PartType1", "Coordinates", 400, 3, p.pos[0]);
    codes_set("PartType1", "Velocities", 400, 3, p.vel[0]);
    codes_set("PartType1", "Masses", 400, 1, p.mass);
    codes_close();
    particles_free(&p);
    nbody_succeeds("-i plummer.hdf5 --steps 0 --json");
    json_t *r = nbody_report_json();
    assert_true(nbody_json_number(r, "G") == 1 && nbody_json_number(r, "eps") == 0.015625);
    assert_true(fabs(nbody_json_number(r, "virial_ratio") - 1) < 0.15);
    json_decref(r);
    nbody_succeeds("-i plummer.hdf5 --steps 0");
    assert_non_null(
        strstr(out, "file has      G 1 from Parameters/GravityConstantInternal, units"));
    assert_non_null(strstr(out, "softening 0.015625 from Parameters/SofteningComovingClass0"));
}

static void codes_command_refuses_to_guess(void **unused)
{
    const double n[6] = {0, 3, 0, 0, 0, 0};
    (void)unused;
    codes_open("none.hdf5");
    codes_header(6, n, n, 1, 0.5);
    codes_bodies("PartType1", 3, -1, "Masses");
    codes_close();
    nbody_refuses(1, "none.hdf5: has neither a gravitational constant nor units",
                  "-i none.hdf5 --steps 1 --eps 1");
    nbody_succeeds("-i none.hdf5 --steps 1 --eps 1 -G 2 -q");
    codes_gizmo("cosmic.hdf5", 1);
    codes_close();
    nbody_refuses(1,
                  "cosmic.hdf5: is of a cosmological run (Header/ComovingIntegrationOn is 1): its "
                  "coordinates expand, which is not simulated here; --isolated takes",
                  "-i cosmic.hdf5 --steps 1");
    put_text(in_folder("star.tab"), "1 0 0 0 0 0 0\n0 1 0 0 0 1 0\n0 2 0 0 0 0.7 0\n");
    put_text(in_folder("list"), "star.tab\ncosmic.hdf5\n");
    nbody_refuses(1, "cosmic.hdf5: is of a cosmological run", "--ensemble list --steps 1");
    put_text(in_folder("list"), "star.tab\nnone.hdf5\n");
    nbody_refuses(1, "none.hdf5: has neither a gravitational", "--ensemble list --steps 1");
    for (int k = 0; k < 2; k++) { /* a scale factor of 0.5 is no time */
        codes_gizmo("cosmic.hdf5", 1 - k);
        codes_close();
        nbody_succeeds("-i cosmic.hdf5 --isolated --steps 2 --dt 1/1048576 --json");
        json_t *r = nbody_report_json();
        assert_true(nbody_json_number(r, "time") == (k ? 0.5 : 0) + 0x1p-19);
        json_decref(r);
        assert_int_equal(!strstr(err, "the time in cosmic.hdf5, 0.5, is a scale factor; the run "
                                      "begins at time 0"),
                         k);
    }
    for (int redshift = 0; redshift < 2; redshift++) { /* without a flag the redshift decides */
        codes_open("galaxy.hdf5");
        codes_header(6, n, n, 1, 0.5);
        codes_scalar("Header", "Omega0", 0.3);
        codes_scalar("Header", "Redshift", redshift);
        codes_bodies("PartType1", 3, -1, "Masses");
        codes_close();
        nbody_succeeds("-i galaxy.hdf5 --isolated -G 1 --eps 1 --steps 2 --dt 1/1048576 --json");
        json_t *r = nbody_report_json();
        assert_true(nbody_json_number(r, "time") == (redshift ? 0 : 0.5) + 0x1p-19);
        json_decref(r);
        assert_int_equal(!strstr(err, "the time in galaxy.hdf5, 0.5, is a scale factor"),
                         !redshift);
    }
    nbody_refuses(2, "--isolated needs", "-n 8 --isolated");
}

/* ---- Several files. -------------------------------------------------------------------------- */

/* Write file k of three: 2 gas, 2 + k dark matter and 1 star bodies each. */
static void codes_part(const char *name, int k, double total, double time)
{
    const double n[6] = {2, 2 + k, 0, 0, 1, 0}, all[6] = {6, total - 9, 0, 0, 3, 0};
    codes_open(name);
    codes_header(6, n, all, 3, time);
    codes_scalar("Header", "UnitLength_In_CGS", KPC);
    codes_bodies("PartType0", 2, 10 * k, "Masses");
    codes_bodies("PartType1", (size_t)(2 + k), 100 + 10 * k, "Masses");
    codes_bodies("PartType4", 1, 1000 + 10 * k, "Masses");
    codes_close();
}

/* Write a file of a snapshot of four, with the bodies of file k of three, or empty. */
static void codes_part_of_four(const char *name, int k, bool empty)
{
    const double none[6] = {0}, n[6] = {2, 2 + k, 0, 0, 1, 0}, all[6] = {6, 9, 0, 0, 3, 0};
    codes_open(name);
    codes_header(6, empty ? none : n, all, 4, 0.25);
    codes_scalar("Header", "UnitLength_In_CGS", KPC);
    if (!empty) {
        codes_bodies("PartType0", 2, 10 * k, "Masses");
        codes_bodies("PartType1", (size_t)(2 + k), 100 + 10 * k, "Masses");
        codes_bodies("PartType4", 1, 1000 + 10 * k, "Masses");
    }
    codes_close();
}

static void check_three_files(const char *name)
{
    static const double x[] = {0,   1,   10,  11,  20,  21,  100,  101,  110,
                               111, 112, 120, 121, 122, 123, 1000, 1010, 1020};
    struct particles p;
    codes_read(name, &p);
    assert_true(p.n == 18 && p.gas == 6 && p.star == 3 && p.time == 0.25);
    for (size_t i = 0; i < 18; i++)
        assert_true(p.pos[i][2] == x[i] && (double)p.id[i] == 100 + x[i]);
    particles_free(&p);
    check_parts(in_folder(name));
}

static void codes_several_files_are_one_snapshot(void **unused)
{
    struct particles p;
    char name[32];
    (void)unused;
    for (int k = 0; k < 3; k++) {
        snprintf(name, sizeof name, "snap_005.%d.hdf5", k);
        codes_part(name, k, 18, 0.25);
    }
    check_three_files("snap_005.1.hdf5");
    check_three_files("snap_005.0.hdf5");
    check_three_files("snap_005");
    check_three_files("snap_005.hdf5");
    for (int empty = 0; empty < 4; empty++) { /* one of the files has no bodies */
        for (int k = 0; k < 4; k++) {
            snprintf(name, sizeof name, "some.%d.hdf5", k);
            codes_part_of_four(name, k - (k > empty), k == empty);
        }
        check_three_files("some.0.hdf5");
        check_three_files("some");
    }
    codes_part("snap_005.2.hdf5", 2, 18, 0.5);
    fails_saying(EINVAL, particles_read(in_folder("snap_005"), &p), "snap_005.2.hdf5",
                 "is of another snapshot than the files beside it: its time is 0.5, not 0.25");
    codes_part("snap_005.2.hdf5", 1, 18, 0.25);
    fails_saying(EINVAL, particles_read(in_folder("snap_005"), &p),
                 "the 3 files of its snapshot have 17 bodies, but its header says 18");
    fails_saying(EINVAL, particles_read_part(in_folder("snap_005"), 0, 2, &p),
                 "the 3 files of its snapshot have 17 bodies, but its header says 18");
    unlink(in_folder("snap_005.2.hdf5"));
    fails_saying(ENOENT, particles_read(in_folder("snap_005"), &p),
                 "snap_005.2.hdf5: no such file");
    fails_saying(ENOENT, particles_read_part(in_folder("snap_005"), 1, 2, &p),
                 "snap_005.2.hdf5: no such file");
    codes_gadget("typed.hdf5", "Class", 43007.1, 0, 0, 0); /* softenings and masses by type */
    codes_close();
    check_parts(in_folder("typed.hdf5"));
    codes_gizmo("boxed.hdf5", 0); /* a box, which each part lies in */
    codes_close();
    check_parts(in_folder("boxed.hdf5"));
    codes_part("other.hdf5", 0, 18, 0.25);
    fails_saying(EINVAL, particles_read(in_folder("other.hdf5"), &p),
                 "is one of 3 files of a snapshot, but its name is not NAME.K");
    assert_null(p.mass);
    fails_saying(ENOENT, particles_read(in_folder("snap_006"), &p), "snap_006: no such file");
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(codes_gadget4_has_its_own_constant),
        cmocka_unit_test(codes_gadget4_derives_constant),
        cmocka_unit_test(codes_swift_units_are_converted),
        cmocka_unit_test(codes_gizmo_header_is_read),
        cmocka_unit_test(codes_cosmology_follows_the_flag),
        cmocka_unit_test(codes_omega_alone_does_not_decide),
        cmocka_unit_test(codes_periodic_box_is_found),
        cmocka_unit_test(codes_several_files_are_one_snapshot),
        cmocka_unit_test(codes_plummer_of_gadget4_is_in_equilibrium),
        cmocka_unit_test(codes_command_refuses_to_guess),
    };
    if (argc != 2)
        return fprintf(stderr, "usage: test_nbody_codes PATH_OF_STDCL\n"), 2;
    command = argv[1];
    return cmocka_run_group_tests(tests, files_create, files_remove);
}
