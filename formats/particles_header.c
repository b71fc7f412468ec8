/* particles_header.c - headers of HDF5 snapshots: time, units, gravitational constant, softenings,
 * and the kind of space.
 *
 *              GADGET-4, AREPO                  SWIFT                  GIZMO
 *   units      UnitLength_in_cm, ...            Units                  UnitLength_In_CGS, ...
 *   G          GravityConstantInternal          newton_G               Gravitational_Constant_
 *                                                                      In_Code_Inits
 *   softening  SofteningComovingClass0, ...     GravityScheme, by      Fixed_ForceSoftening_
 *              (AREPO: ...Type0)                matter and baryons     Keplerian_Kernel_Extent
 *   cosmology  ComovingIntegrationOn            Cosmological run       ComovingIntegrationOn
 *   periodic   Config/PERIODIC (AREPO: not      PeriodicBoundariesOn   -
 *              Config/GRAVITY_NOT_PERIODIC)
 *
 * A G of 0 in Parameters means that the code derived it from the units. Softenings are equivalents
 * of Plummer's. Sources: the users' guides and the writers of V. Springel's, M. Schaller's and P.
 * Hopkins's codes.
 * SPDX-License-Identifier: MIT
 */
#include "formats/particles_hdf5.h"
#include "stdcl.h"

#ifdef STDCL_HAVE_HDF5

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double GIZMO_KERNEL_EXTENT = 2.8; /* Plummer's softening to the extent of the spline */

static bool header_number(const struct snapshot *s, const char *group, const char *name, double *x)
{
    return hdf5_number(&s->source, group, name, x) && isfinite(*x);
}

/* ---- Units. ---------------------------------------------------------------------------------- */

/* Read metadata: numbers or texts of /Parameters. */
static int read_notes(const struct snapshot *s)
{
    static const char *const places[] = {"Parameters", "Units", "Header"};
    double value;
    int status = 0;
    for (enum particles_note k = 0; k < PARTICLES_NOTE_COUNT && status == 0; k++)
        for (int at = 0; at < 3 && status == 0 && !s->p->note[k]; at++) {
            char *text = NULL;
            if (at > 0 && (k < NOTE_UnitLength_in_cm || k > NOTE_UnitVelocity_in_cm_per_s))
                continue;
            if (particles_note_kind(k) == PARTICLES_REAL &&
                hdf5_number(&s->source, places[at], particles_note_name(k), &value))
                status = particles_set_number(s->p, k, value);
            else if (particles_note_kind(k) != PARTICLES_REAL &&
                     (text = hdf5_text(&s->source, places[at], particles_note_name(k))))
                status = particles_read_note(s->p, k, text, strlen(text));
            free(text);
        }
    return status;
}

static int set_units(const struct snapshot *s, double length, double mass, double velocity)
{
    return particles_set_number(s->p, NOTE_UnitLength_in_cm, length) < 0 ||
                   particles_set_number(s->p, NOTE_UnitMass_in_g, mass) < 0 ||
                   particles_set_number(s->p, NOTE_UnitVelocity_in_cm_per_s, velocity) < 0
               ? -1
               : 0;
}

struct swift_units {
    double length, mass, time; /* in cgs units */
};

static bool read_swift_group(const struct snapshot *s, const char *group, struct swift_units *u)
{
    return header_number(s, group, "Unit length in cgs (U_L)", &u->length) &&
           header_number(s, group, "Unit mass in cgs (U_M)", &u->mass) &&
           header_number(s, group, "Unit time in cgs (U_t)", &u->time) && u->length > 0 &&
           u->mass > 0 && u->time > 0;
}

/* SWIFT gives the time unit where others give the velocity unit; GIZMO has other names. */
static int read_units_of_others(const struct snapshot *s)
{
    struct swift_units u;
    double length, mass, velocity;
    if (s->p->note[NOTE_UnitLength_in_cm])
        return 0;
    if (read_swift_group(s, "Units", &u))
        return set_units(s, u.length, u.mass, u.length / u.time);
    if (header_number(s, "Header", "UnitLength_In_CGS", &length) &&
        header_number(s, "Header", "UnitMass_In_CGS", &mass) &&
        header_number(s, "Header", "UnitVelocity_In_CGS", &velocity))
        return set_units(s, length, mass, velocity);
    return 0;
}

/* ---- The gravitational constant. ------------------------------------------------------------- */

static int set_constant(const struct snapshot *s, double G, const char *place)
{
    return particles_set_number(s->p, NOTE_G, G) < 0
               ? -1
               : particles_tell(s->p, "G %g from %s", G, place);
}

/* SWIFT's internal units may differ from the snapshot's. */
static double to_snapshot_units(const struct snapshot *s, double value, int length, int mass,
                                int time)
{
    struct swift_units in, out;
    if (!read_swift_group(s, "InternalCodeUnits", &in) || !read_swift_group(s, "Units", &out))
        return value;
    return value * pow(in.length / out.length, length) * pow(in.mass / out.mass, mass) *
           pow(in.time / out.time, time);
}

static int read_constant(const struct snapshot *s)
{
    const struct particles *p = s->p;
    const double length = particles_number(p, NOTE_UnitLength_in_cm),
                 mass = particles_number(p, NOTE_UnitMass_in_g),
                 speed = particles_number(p, NOTE_UnitVelocity_in_cm_per_s);
    double G;
    if (p->note[NOTE_G]) /* our own file */
        return 0;
    if (header_number(s, "Parameters", "GravityConstantInternal", &G) && G > 0)
        return set_constant(s, G, "Parameters/GravityConstantInternal");
    if (header_number(s, "Header", "Gravitational_Constant_In_Code_Inits", &G) && G > 0)
        return set_constant(s, G, "Header/Gravitational_Constant_In_Code_Inits");
    if (hdf5_has(&s->source, "PhysicalConstants", NULL) &&
        header_number(s, "PhysicalConstants/InternalUnits", "newton_G", &G) && G > 0)
        return set_constant(s, to_snapshot_units(s, G, 3, -1, -2),
                            "PhysicalConstants/InternalUnits/newton_G");
    if (length > 0 && mass > 0 && speed > 0)
        return set_constant(s, HDF5_G_CGS * mass / (length * speed * speed), "the units");
    return 0;
}

/* Tell which units the file has. */
static int tell_units(const struct snapshot *s)
{
    const struct particles *p = s->p;
    const double length = particles_number(p, NOTE_UnitLength_in_cm),
                 mass = particles_number(p, NOTE_UnitMass_in_g),
                 speed = particles_number(p, NOTE_UnitVelocity_in_cm_per_s);
    return p->origin && length > 0 && mass > 0 && speed > 0
               ? particles_tell(s->p, "units %g cm, %g g and %g cm/s", length, mass, speed)
               : 0;
}

/* ---- Softenings. ----------------------------------------------------------------------------- */

/* GADGET-4 ("Class") and AREPO ("Type"): particle types refer to classes of softening. */
static bool find_softening_class(struct snapshot *s, int type, const char *kind)
{
    char name[64];
    double class;
    snprintf(name, sizeof name, "Softening%sOfPartType%d", kind, type);
    if (!header_number(s, "Parameters", name, &class))
        return false;
    snprintf(name, sizeof name, "SofteningComoving%s%.0f", kind, class);
    snprintf(s->softening_name, sizeof s->softening_name, "Parameters/%s", name);
    return header_number(s, "Parameters", name, &s->softening[type]);
}

/* SWIFT: dark matter and baryons; one for all in older versions. Without cosmology the maximal
 * physical softening applies. */
static bool find_swift_softening(struct snapshot *s, int type)
{
    static const char *const names[][3] = {
        {"Maximal physical DM softening length (Plummer equivalent) [internal units]",
         "Maximal physical softening length (Plummer equivalent)  [internal units]",
         "Softening length (Plummer equivalent)"},
        {"Maximal physical baryon softening length (Plummer equivalent) [internal units]",
         "Maximal physical softening length (Plummer equivalent)  [internal units]",
         "Softening length (Plummer equivalent)"}};
    double eps;
    if (type == 2 || type == LAST_READ) /* background and neutrinos have softenings of their own */
        return false;
    for (int k = 0; k < 3; k++)
        if (header_number(s, "GravityScheme", names[type != 1][k], &eps)) {
            s->softening[type] = to_snapshot_units(s, eps, 1, 0, 0);
            snprintf(s->softening_name, sizeof s->softening_name, "GravityScheme");
            return true;
        }
    return false;
}

static bool find_gizmo_softening(struct snapshot *s, int type)
{
    double extent[TYPES];
    const size_t n = hdf5_numbers(&s->source, "Header",
                                  "Fixed_ForceSoftening_Keplerian_Kernel_Extent", extent, TYPES);
    if ((size_t)type >= n)
        return false;
    s->softening[type] = extent[type] / GIZMO_KERNEL_EXTENT;
    snprintf(s->softening_name, sizeof s->softening_name, "Header/Fixed_ForceSoftening_...");
    return true;
}

bool snapshot_has_type(const struct snapshot *s, int type)
{
    return s->n[type] > 0 || s->total[type] > 0;
}

bool snapshot_find_softenings(struct snapshot *s)
{
    bool all = true, equal = true;
    double one = NAN;
    for (int type = 0; type < READ_TYPES; type++) {
        if (!snapshot_has_type(s, type))
            continue;
        all = all &&
              (find_softening_class(s, type, "Class") || find_softening_class(s, type, "Type") ||
               find_gizmo_softening(s, type) || find_swift_softening(s, type)) &&
              s->softening[type] >= 0;
        equal &= isnan(one) || s->softening[type] == one;
        one = s->softening[type];
    }
    s->one_softening = all && equal;
    return all;
}

/* ---- The space. ------------------------------------------------------------------------------ */

/* Set *flag to the first of the named attributes; "GROUP/NAME" each. */
static void find_flag(const struct snapshot *s, const char *const names[], double *flag,
                      const char **name)
{
    char group[64];
    *flag = NAN;
    for (int i = 0; names[i] && isnan(*flag); i++) {
        const char *slash = strchr(names[i], '/');
        snprintf(group, sizeof group, "%.*s", (int)(slash - names[i]), names[i]);
        *name = names[i];
        if (!header_number(s, group, slash + 1, flag))
            *flag = NAN;
    }
}

/* True if one of the first characters of a text parameter, as SWIFT writes them, is not 0. */
static double text_flag(const struct snapshot *s, const char *group, const char *name)
{
    char *text = hdf5_text(&s->source, group, name);
    const double flag = text ? strtod(text, NULL) : NAN;
    free(text);
    return flag;
}

static void find_periodic(const struct snapshot *s, struct particles_space *space)
{
    static const char *const flags[] = {"Parameters/PeriodicBoundariesOn",
                                        "RuntimePars/PeriodicBoundariesOn", NULL};
    find_flag(s, flags, &space->periodic, &space->periodic_name);
    if (isnan(space->periodic)) {
        space->periodic_name = "Parameters/InitialConditions:periodic";
        space->periodic = text_flag(s, "Parameters", "InitialConditions:periodic");
    }
    if (hdf5_has(&s->source, "Config", "GRAVITY_NOT_PERIODIC"))
        space->periodic = 0;
    else if (isnan(space->periodic) && hdf5_has(&s->source, "Config", NULL)) {
        space->periodic = hdf5_has(&s->source, "Config", "PERIODIC");
        space->periodic_name = "Config/PERIODIC";
    }
}

static int read_space(const struct snapshot *s)
{
    static const char *const comoving[] = {"Cosmology/Cosmological run",
                                           "Parameters/ComovingIntegrationOn",
                                           "Header/ComovingIntegrationOn", NULL};
    static const char *const omega[] = {"Header/Omega0", "Parameters/Omega0", "Header/Omega_Matter",
                                        "Cosmology/Omega_m", NULL};
    struct particles_space space = {.redshift = NAN};
    double side[3];
    find_flag(s, comoving, &space.comoving, &space.comoving_name);
    find_flag(s, omega, &space.omega, &space.omega_name);
    find_periodic(s, &space);
    (void)header_number(s, "Header", "Redshift", &space.redshift);
    const size_t sides = hdf5_numbers(&s->source, "Header", "BoxSize", side, 3);
    for (size_t k = 0; sides && k < 3; k++)
        space.box[k] = side[k < sides ? k : 0];
    return particles_set_space(s->p, &space);
}

/* ---- All. ------------------------------------------------------------------------------------ */

/* Bodies of all types in all files of the snapshot, and by type whether there are any. */
static void read_totals(struct snapshot *s)
{
    double low[READ_TYPES] = {0}, high[READ_TYPES] = {0}, files;
    hdf5_numbers(&s->source, "Header", "NumPart_Total", low, READ_TYPES);
    hdf5_numbers(&s->source, "Header", "NumPart_Total_HighWord", high, READ_TYPES);
    for (int type = 0; type < READ_TYPES; type++) {
        s->total[type] = low[type] + 0x1p32 * high[type];
        s->p->total += s->total[type];
    }
    if (header_number(s, "Header", "NumFilesPerSnapshot", &files) && files > 1)
        s->p->files = files < 1e6 ? (size_t)files : 1000000;
}

int snapshot_read_header(struct snapshot *s)
{
    double n[READ_TYPES];
    if (!hdf5_has(&s->source, "Header", NULL))
        return clerror_set(EINVAL, "%s: is HDF5, but no snapshot: it has no group Header", s->name);
    read_totals(s);
    if (!hdf5_number(&s->source, "Header", "Time", &s->p->time) &&
        particles_miss(s->p, "no Header/Time (0 is taken)") < 0)
        return -1;
    if (!isfinite(s->p->time))
        return clerror_set(EINVAL, "%s: Header/Time is %g", s->name, s->p->time);
    if (!hdf5_numbers(&s->source, "Header", "MassTable", s->mass, READ_TYPES) &&
        particles_miss(s->p, "no Header/MassTable") < 0)
        return -1;
    if (hdf5_numbers(&s->source, "Header", "NumPart_ThisFile", n, READ_TYPES) < 2 &&
        particles_miss(s->p, "no Header/NumPart_ThisFile (the groups' own sizes are taken)") < 0)
        return -1;
    return read_notes(s) < 0 || read_units_of_others(s) < 0 || read_constant(s) < 0 ||
                   tell_units(s) < 0
               ? -1
               : read_space(s);
}

#endif
