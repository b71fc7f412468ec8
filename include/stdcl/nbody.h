/* stdcl/nbody.h - gravity by direct summation or by a tree, on any OpenCL device, or on several at
 * once.
 *
 *   nbody *nb = nbody_create(&(struct nbody_options){.eps = 0.05, .dt = 0.002}, n, mass, pos, vel);
 *   nbody_step(nb, 100);                 100 steps on the device, without the host
 *   nbody_diagnose(nb, &d);              energy, momentum, ... reduced on the device
 *   nbody_state(nb, pos, vel);           copies positions and velocities back
 *   nbody_free(nb);
 *
 * Units are the caller's: any that agree with G. Inside, everything is scaled by powers of two,
 * which is exact, so that neither kilogrammes and metres nor parsecs overflow single precision.
 * The force on body i is the sum over j != i of G m_j (x_j - x_i) / (r^2 + eps^2)^(3/2), Plummer's
 * softening; the potential of i is minus the sum of G m_j / (r^2 + eps^2)^(1/2).
 * int functions return 0, or -1 with clerrno set and a sentence in clerror(); pointers NULL
 * likewise. Results have the same bits in every run and for any number of devices of one model with
 * equal shapes, wherever bursts end and whatever was asked in between: sums are added in an order
 * that depends on n alone. One engine is used by one thread at a time; different engines are
 * independent of each other. A struct of options may grow in a later version 1, by its reserved
 * words: they must be 0 (EINVAL). All other structs stay as they are. Their sizes and offsets:
 * tests/install/layout.txt. A handle of NULL, which is what a call that failed returns, is EINVAL:
 * what is given back is -1, NULL, 0 or, of a text, "". It may be freed.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_NBODY_H
#define STDCL_NBODY_H

#include <stddef.h>
#include <stdint.h>
#include <stdcl.h>
#include <stdcl/world.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- The engine. ----------------------------------------------------------------------------- */

typedef struct nbody nbody;

/* How a step goes from t to t + dt, with one evaluation of all forces unless more are said. */
enum nbody_integrator {
    /* Kick-drift-kick, 2nd order, symplectic: v += a dt/2; x += v dt; a = a(x); v += a dt/2. */
    NBODY_LEAPFROG,
    /* 4th order, from forces and their time derivatives (Makino & Aarseth 1992, PASJ 44, 141), one
     * evaluation (PEC). Predict xp = x + v dt + a dt^2/2 + j dt^3/6, vp = v + a dt + j dt^2/2;
     * evaluate a1, j1 there; a2 = (-6 (a - a1) - dt (4 j + 2 j1)) / dt^2,
     * a3 = (12 (a - a1) + 6 dt (j + j1)) / dt^3; then x = xp + a2 dt^4/24 + a3 dt^5/120,
     * v = vp + a2 dt^3/6 + a3 dt^4/24, a = a1, j = j1. */
    NBODY_HERMITE4,
    /* The classic tutorial's scheme, a at the old positions, first order:
     * x += v dt + a dt^2/2; v += a dt. For comparison only. */
    NBODY_TAYLOR,
    /* Three leapfrog steps of w1 dt, w0 dt, w1 dt with w1 = 1 / (2 - 2^(1/3)), w0 = 1 - 2 w1: 4th
     * order, symplectic, three evaluations (Yoshida 1990, Phys. Lett. A 150, 262). */
    NBODY_YOSHIDA4,
    /* Gauss-Radau, 15th order, with steps of its own choice within each dt, to rounding (Everhart
     * 1985; Rein & Spiegel 2015, MNRAS 446, 1424): on the host, in double precision, for at most
     * 4096 bodies. Each dt begins anew, so that a long one is faster; the state is rounded to the
     * engine's precision at its end. EDOM when bodies come so close that steps vanish: the state is
     * then that before the step. Not with NBODY_TREE. */
    NBODY_IAS15,
    /* 6th order, from forces and two time derivatives of them (Nitadori & Makino 2008, New
     * Astronomy 13, 498), one evaluation (PEC). Predict x to the 5th power of dt, v to the 4th and
     * a to the 3rd, with s and k the jerk's derivatives; evaluate a1, j1, s1 there; then v1 = v +
     * dt/2 (a + a1) - dt^2/10 (j1 - j) + dt^3/120 (s + s1) and x1 = x + dt/2 (v + v1) - dt^2/10 (a1
     * - a) + dt^3/120 (j + j1), and k from the polynomial of 5th degree through both ends. The
     * first step has k = 0. */
    NBODY_HERMITE6
};

/* How long steps are. */
enum nbody_stepping {
    NBODY_FIXED,    /* dt, all of them */
    NBODY_ADAPTIVE, /* all bodies make the same steps, dt / 2^k, as long as the body that needs the
                       shortest allows. Not with NBODY_IAS15, which does that anyway */
    NBODY_BLOCK /* each body makes steps of its own, dt / 2^k, and only bodies whose steps end are
                   summed for (block steps: McMillan 1986, in LNP 267, 156; Makino 1991, PASJ 43,
                   859). All end together with every dt */
};

struct nbody_integrator_info {
    const char *name;  /* "leapfrog", ... */
    const char *about; /* one line */
    int order;         /* half the step, 2^order times less error */
    int derivatives;   /* time derivatives of the forces that a step needs: 0, 1 (hermite4) or 2 */
};

/* What there is to know of an integrator; static. NULL when there is none of that number, so that a
 * loop from 0 on lists them all. */
const struct nbody_integrator_info *nbody_integrator_describe(enum nbody_integrator integrator);

/* The type of state and of the sums over pairs on the device. Diagnostics are summed in double
 * either way (on a device without doubles, in pairs of floats). What single precision costs:
 *   - Forces are off by about 1e-7 for 1,000 bodies, 4e-7 for 100,000 (root mean square, Plummer
 *   spheres).
 *   - Positions have 24 bits, counted from the origin. Forces in a system that lies 100 of its own
 *   lengths away from
 *     there are wrong by 1e-4, at 10,000 lengths by 1 to 3 %, at 1,000,000 by 8 to 40 %, and no
 *     message says so: put a system's centre at the origin.
 *   - Without softening, pairs nearer than 5e-9 of the largest coordinate feel less than they
 *   should.
 * Mixed: state and differences of positions in double (differences as pairs of floats, counted from
 * the centre of mass at creation: 48 bits), pulls in single, their sums in double. Forces are off
 * by about 1e-7, wherever the system lies, also between bodies 1e-8 of its size apart; energies are
 * those of double precision. For accelerations by NBODY_TUNED and NBODY_DIRECT, with integrators
 * that need no derivatives (EINVAL otherwise). Double and mixed need a device that has doubles. */
enum nbody_precision { NBODY_SINGLE, NBODY_DOUBLE, NBODY_MIXED };

/* Which kernel sums the forces. Use NBODY_TUNED; the others are simpler, to be read
 * (nbody/baseline.cl) and to be compared with. All give the same forces to rounding. The simpler
 * ones run on one device, and have no derivatives of the forces, which NBODY_HERMITE4 needs. */
enum nbody_kernel {
    NBODY_TUNED, /* with the device's measured shape: registers, splits, the hardware's root */
    NBODY_NAIVE, /* an array of structures, as the formula says, with a branch that skips the body
                    itself */
    NBODY_BRANCHLESS, /* the same array, first j < i, then j > i */
    NBODY_TILED       /* {x, y, z, m}, which a work-group copies to local memory piece by piece */
};

/* How forces are found. */
enum nbody_method {
    NBODY_DIRECT, /* the sum over all pairs, as precise as the numbers are; time grows with n^2 */
    NBODY_TREE, /* an octree (Barnes & Hut 1986, Nature 324, 446): what is far pulls as a whole, by
                   its mass and its quadrupole, for high accuracy up to its hexadecapole (second to
                   fourth moments); time grows with n log n, and `accuracy` says how well */
    NBODY_AUTO  /* whichever is faster for n bodies */
};

/* Fixed fields of force about the origin, in which bodies move. Phi: potential of a unit of mass at
 * the distance r. */
enum nbody_field_kind {
    NBODY_FIELD_POINT,      /* Phi = -G strength / r; at the origin itself there is no force */
    NBODY_FIELD_PLUMMER,    /* Phi = -G strength / (r^2 + scale^2)^(1/2) */
    NBODY_FIELD_LOGARITHMIC /* Phi = strength^2 / 2 ln(1 + r^2 / scale^2): bodies circle with the
                               speed `strength` far outside */
};
struct nbody_field {
    enum nbody_field_kind kind;
    double strength; /* a mass > 0, or a speed > 0 */
    double scale;    /* a length > 0; not looked at for NBODY_FIELD_POINT */
};

/* Zero means the default, everywhere but in dt. */
struct nbody_options {
    CLCONTEXT *ctx; /* the devices; ALL of them are used. NULL: stdgpu, else stdcpu.
                       Not owned; must outlive the engine */
    enum nbody_integrator integrator;
    enum nbody_precision precision;
    enum nbody_kernel kernel; /* for accelerations; potentials are always summed by the tuned one */
    double G;                 /* gravitational constant; 0 = 1 */
    double eps;               /* softening length (not its square), >= 0 */
    double dt;                /* time step; not 0; negative runs backwards */
    size_t burst;             /* steps that are started without waiting; then the host looks whether
                                 a number became NaN, and in which step. 0 = chosen; at most 256 */
    const double *shares;     /* of the bodies, relative, one number >= 0 for each device of ctx.
                                 NULL: equal on devices of one model, else by a short measurement;
                                 shares, and so the rounding, may then differ from run to run */
    /* Called now and then, in the calling thread, with the fraction of a call of nbody_step,
     * nbody_forces, nbody_time_forces or nbody_diagnose that is done, 0 to 1. It returns 0, or
     * something else to end the call soon, with ECANCELED. May be NULL. */
    int (*progress)(void *arg, double fraction);
    void *arg;
    const char *shape; /* how kernels are launched: words KEY=NUMBER that change the
                          device's own row, see nbody/README.md; NULL: that row */
    enum nbody_method method;
    double accuracy; /* with the tree: the relative error of accelerations, which 99 of 100
                        bodies stay below; at most 0.5. 0 = 1e-3 */
    const struct nbody_field
        *fields; /* in which bodies move; copied. Their forces, and their potentials and energies,
                   are in all that the engine tells; total momentum is then not conserved */
    size_t nfields;
    const double
        *softening; /* of each body, n lengths >= 0; copied. A pair has the mean of both squares in
                       place of eps^2, which is not looked at then. NULL: eps for all. With
                       NBODY_DIRECT, NBODY_TUNED, NBODY_FIXED, in single or double precision */
    enum nbody_stepping
        stepping; /* other than NBODY_FIXED: with NBODY_DIRECT, NBODY_BLOCK with NBODY_HERMITE4; or
                     NBODY_BLOCK with NBODY_LEAPFROG, NBODY_TREE and a softening. dt is then the
                     longest step, and what nbody_step counts by; questions are answered, and states
                     saved, at its ends. Steps that bodies choose are made by the first device of
                     ctx that has a share, alone */
    double eta;   /* how long such steps are. With the tree (2 eta eps / |a|)^1/2 (Springel 2005,
                     MNRAS 364, 1105); 0 =   0.025. With hermite4 Aarseth's (eta (|a| |a2| + |j|^2) /
                     (|j| |a3| + |a2|^2))^1/2,   with a2 and a3 the jerk's derivatives, at most twice
                     the last; 0 = 0.01. With others (eta / w^2)^1/2,   with w^2 the greatest sum over
                     j   of G (m_i + m_j) / (r^2 + eps^2)^3/2; 0 = 0.001. So on a circular   orbit
                     there   are   2 pi / eta^1/2 steps */
    stdcl_world *world; /* ranks that divide sums of fixed steps on devices among themselves; NULL:
                           alone; not owned. All ranks give the same bodies. All functions but
                           questions are collective then, and give all of them the same results */
    uintptr_t reserved[8]; /* must be 0 */
};

/* Makes an engine with n >= 1 bodies, copied from the caller's arrays: mass[i] >= 0, position
 * pos[i][0..2], velocity vel[i][0..2]; all finite. Builds the kernels and runs them once on no
 * bodies, which takes a second or so, so that the first step is as fast as any other. Bodies at the
 * same place do not attract each other, whatever eps is.
 * Memory on a device in single precision: 44 bytes for each body that it owns (104 with hermite4),
 * 16 for each other body (32), and at most 192 MiB of work space (384) for up to 4 million bodies.
 * The tree adds about 100 bytes for every body; the kernels `naive` and `branchless` add 64. Double
 * precision takes twice as much of all. EINVAL: a bad number, a body 10^15 times (in double
 * precision 10^140) as far from the middle as half of them, or a kernel that cannot do what is
 * asked (the message says which); ENODEV: no device; ENOTSUP: double without hardware
 * for it; ENOMEM; ENOEXEC: a kernel does not build (with the log). The caller frees it with
 * nbody_free. */
nbody *nbody_create(const struct nbody_options *options, size_t n, const double *mass,
                    const double (*pos)[3], const double (*vel)[3]);

/* Frees the engine and what it holds on the devices, after work in flight is done. NULL is fine. */
void nbody_free(nbody *nb);

/* Advances by `steps` steps of dt and blocks until they are done. EDOM when a position or velocity
 * became NaN or infinite: the message names the first such step, and the state is lost. EDOM, too,
 * when steps that bodies choose become shorter than 2^-40 dt: the message names two bodies, and the
 * state is that before the step of dt. ECANCELED when `progress` ended it: the state is that after
 * the last whole step, nbody_steps(nb), and the run may go on from there. */
int nbody_step(nbody *nb, size_t steps);

/* Changes the time step from now on (not 0): to end a run at a given time, for example. */
int nbody_set_dt(nbody *nb, double dt);

/* Makes these the current time and the steps done, for an engine that goes on with what another one
 * did. */
void nbody_set_clock(nbody *nb, double time, size_t steps);

/* Copies out positions and velocities of the current time, n rows each, in the caller's units and
 * in the order given to nbody_create. Either may be NULL. */
int nbody_state(nbody *nb, double (*pos)[3], double (*vel)[3]);

/* The same of `count` bodies, in single precision, for pictures: row k is of body which[k], of body
 * k when `which` is NULL. Only these are copied from the devices. pos or vel may be NULL. With a
 * world rank 0 gets them, and the others' rows of pos and vel are not defined. EINVAL: there is no
 * such body. */
int nbody_positions(nbody *nb, size_t count, const uint32_t *which, float (*pos)[3],
                    float (*vel)[3]);

/* Computes, at the current time and without stepping, every body's acceleration and potential (per
 * unit mass, negative but for logarithmic fields) into n rows each. Either may be NULL. */
int nbody_forces(nbody *nb, double (*acc)[3], double *potential);

/* Computes all accelerations `times` times over, without copying anything to the host, and tells
 * how long that took. Changes nothing else. */
int nbody_time_forces(nbody *nb, size_t times, double *seconds);

/* All that an engine needs to go on with the same bits: copies nbody_save_bytes(nb) bytes to the
 * caller's memory, and back into an engine made with the same options, shapes and masses (whatever
 * its bodies' positions), on any number of devices of that model and ranks, and with any shares;
 * nbody_device_bodies and nbody_shape tell of these. Collective: all ranks get all bytes, and load
 * them. The bytes are those of one version of this library on one kind of machine, and hold no
 * checksum. EINVAL: they are of another engine (the message says in what). A load that fails
 * otherwise loses the state. */
size_t nbody_save_bytes(const nbody *nb);
int nbody_save(nbody *nb, void *to);
int nbody_load(nbody *nb, const void *from, size_t size);

/* nbody_save in two halves, so that a run need not wait for its bytes. hold: keeps the state as it
 * is now in spare memory of the devices and of the host, which the first call makes and nbody_free
 * frees, and blocks for nothing else; where there is none, and with ranks, it blocks as nbody_save
 * does. Collective. held: copies what was held to the caller's memory, as often as wanted; from any
 * thread, also while another uses the engine, but for nbody_snapshot_begin and nbody_free. ENOMEM;
 * EIO: a device failed; EINVAL: nothing was held. */
int nbody_snapshot_begin(nbody *nb);
int nbody_snapshot_read(nbody *nb, void *to);

/* Sums over all bodies at the current time. Energies are those of the softened force. */
struct nbody_diagnostics {
    double time;
    double kinetic;             /* sum m v^2 / 2 */
    double potential;           /* sum over pairs, negative; and over bodies in fields */
    double total;               /* kinetic + potential */
    double momentum[3];         /* sum m v */
    double angular_momentum[3]; /* sum m x cross v, about the origin */
    double virial_ratio; /* 2 kinetic / |potential|, where fields count with sum m x a; 0 when there
                            is no potential */
};

/* Fills *d. Costs about one evaluation of all forces. EDOM when a sum is out of the range of the
 * engine's precision (the message names it): the run went wrong, or wants double precision. */
int nbody_diagnose(nbody *nb, struct nbody_diagnostics *d);

/* How good accelerations are at the current time: errors of some bodies, |a - right| / |right|,
 * where `right` is the sum over all pairs in double precision. */
struct nbody_force_errors {
    size_t bodies; /* that were checked */
    double median, p90, p99, p999,
        most;     /* 50, 90, 99 and 99.9 % of the errors are below these; the largest */
    size_t worst; /* the body that has it */
};

/* Checks `samples` bodies, drawn at random by this seed, or all bodies if that is n or more; on the
 * first device that owns bodies. EINVAL: no samples; ENOTSUP: that device has no double precision;
 * ENOMEM. */
int nbody_check_forces(nbody *nb, size_t samples, uint64_t seed, struct nbody_force_errors *errors);

/* The method in use, never NBODY_AUTO; and a sentence that says why that one, owned by the
 * engine. */
enum nbody_method nbody_method(const nbody *nb);
const char *nbody_explain_method(const nbody *nb);

/* The current time (0 at creation); steps done; bodies; and interactions computed by steps so far,
 * n^2 for each evaluation of all forces, as the field counts them; 0 with the tree, which computes
 * few of these. */
double nbody_time(const nbody *nb);
size_t nbody_steps(const nbody *nb);
size_t nbody_bodies(const nbody *nb);
double nbody_interactions(const nbody *nb);

/* Of steps that bodies choose: how many times there were at which any ended, and how many ended,
 * those of all bodies together. 0 with NBODY_FIXED. Either may be NULL. */
void nbody_block_counts(const nbody *nb, double *blocks, double *steps);

/* The eta in use, 0 with NBODY_FIXED. */
double nbody_eta(const nbody *nb);

/* How many interactions a second the devices in use could do at most: their measured rate of
 * multiply-adds (clpeak, which takes a moment at first) over the instructions that a pair needs
 * (nbody/README.md, "One pull"); 0 when that rate is not known. A busy device measures too low. */
double nbody_peak_rate(const nbody *nb);

/* The most memory that any one device holds for the engine, in bytes. */
size_t nbody_device_bytes(const nbody *nb);

/* The number of devices in use. Then, for device `dev` of the context: how many bodies it owns (0:
 * it is idle); its launch shape as words "KEY=NUMBER ..."; a sentence that says which row of the
 * tuning store that is, and why. Both texts are owned by the engine. */
unsigned nbody_devices(const nbody *nb);
size_t nbody_device_bodies(const nbody *nb, unsigned dev);
const char *nbody_shape(const nbody *nb, unsigned dev);
const char *nbody_explain(const nbody *nb, unsigned dev);

/* What `stdcl tune` searches: the sums over pairs, a row each for single and double precision, with
 * and without the derivative that hermite4 needs. Static; *count of them. */
const struct cltune_kernel *nbody_tune_kernels(size_t *count);

/* ---- What a system is like. ------------------------------------------------------------------ */

/* The orbit of one body about another, of a relative position and velocity; gm: G times the sum of
 * both masses. Angles in radians, 0 to 2 pi; of an orbit in the plane z = 0 the node, of a circle
 * the pericentre is at angle 0. Motion along a line has none of these: all are NAN. Computed on the
 * host, as is all in this part. */
struct nbody_elements {
    double semi_major; /* negative for a hyperbola */
    double eccentricity;
    double inclination;  /* to the plane z = 0, 0 to pi */
    double node;         /* longitude of the ascending node */
    double pericentre;   /* argument of the pericentre */
    double mean_anomaly; /* on a hyperbola of either sign */
    double period;       /* INFINITY for a hyperbola */
};
struct nbody_elements nbody_find_elements(double gm, const double pos[3], const double vel[3]);

/* Two bound bodies, each the nearest neighbour of the other; every other body is farther from them
 * than their largest distance on this orbit. */
struct nbody_binary {
    size_t first, second;
    struct nbody_elements orbit;
};

/* The bodies between one Lagrange radius and the next, about the density centre and its
 * velocity. */
struct nbody_shell {
    double
        fraction; /* of the mass, inside `radius`; the caller's, ascending, above 0 and at most 1 */
    double radius;
    double mean_mass;
    double radial;     /* velocity dispersion along the radius */
    double tangential; /* across it, in one of the two directions */
    double anisotropy; /* 1 - tangential^2 / radial^2; NAN where nothing varies along the radius, as
                          of one body */
};

struct nbody_structure {
    double centre[3],
        velocity[3]; /* of density, by sixth neighbours (Casertano & Hut 1985, ApJ 298, 80) */
    double
        core_radius; /* root of the mean squared distance from there, weighted by squared density */
    double half_mass_radius;
    double relaxation_time; /* 0.138 N r^1.5 / (sqrt(G M) ln 0.11 N) at the half-mass radius r
                               (Giersz & Heggie 1994) */
    size_t escapers;        /* bodies of positive energy beyond the half-mass radius */
    size_t binaries;
    struct nbody_binary *binary; /* that many, closest first; free(), NULL when there are none */
};

/* Fills *s, and the shells whose fractions are given. `potential` is that of nbody_forces; NULL:
 * escapers are 0. Takes n log n time, on several processors. With fewer than 7 bodies the centre is
 * that of mass, and the core's radius 0. ENOMEM; EINVAL: no mass, or fractions that make no
 * sense. */
int nbody_find_structure(size_t n, double G, const double *mass, const double (*pos)[3],
                         const double (*vel)[3], const double *potential, size_t shells,
                         struct nbody_shell *shell, struct nbody_structure *s);

/* The same, found on device `dev` of ctx: all but the orbits of binaries. n log n time. ENOEXEC
 * where a device of ctx has no double precision. */
int nbody_find_structure_device(CLCONTEXT *ctx, cl_uint dev, size_t n, double G, const double *mass,
                                const double (*pos)[3], const double (*vel)[3],
                                const double *potential, size_t shells, struct nbody_shell *shell,
                                struct nbody_structure *s);

/* Two bodies that came as close as their radii: how long ago in the last step, at first. */
struct nbody_contact {
    size_t first, second; /* first < second */
    double before;        /* now, 0 to |dt| */
};

/* Finds the pairs that touched in the last step of dt, as if bodies moved along lines in it:
 * *contacts of them, the earliest first; free(*contact), NULL when there are none. ENOMEM. */
int nbody_find_contacts(size_t n, const double *radius, const double (*pos)[3],
                        const double (*vel)[3], double dt, struct nbody_contact **contact,
                        size_t *contacts);

/* ---- Many planetary systems at once. --------------------------------------------------------- */

/* Systems of a star and 1 to 15 planets, all with as many, each of them one work-item's: for how
 * chaos, masses or beginnings spread. Steps are symplectic, of 2nd order: Kepler's motion about the
 * star between kicks by the other planets (Wisdom & Holman 1991, AJ 102, 1528), in democratic
 * heliocentric coordinates (Duncan, Levison & Lee 1998, AJ 116, 2067), in double precision. Planets
 * may have any orbit but close encounters with each other, which such steps do not resolve; those
 * of NBODY_IAS15 do. */
typedef struct nbody_ensemble nbody_ensemble;

struct nbody_ensemble_options {
    CLCONTEXT *ctx; /* the devices, which take a part of the systems each. NULL: stdgpu, else
                       stdcpu. Not owned */
    double G;       /* gravitational constant; 0 = 1 */
    double dt; /* time step; not 0; a twentieth of the shortest period, or less. With NBODY_IAS15 a
                  period or more, since each begins anew */
    enum nbody_integrator integrator; /* 0: these steps. NBODY_IAS15: Gauss and Radau's, of 15th
                                         order, with steps of their own choice for each system
                                         within dt, to rounding, close encounters too */
    int (*progress)(void *arg, double fraction); /* as in nbody_options; a call that it ends is as
                                                    if it had not been made ... */
    void *arg; /* ... but for whole launches: nbody_ensemble_steps tells where it stands */
    uintptr_t reserved[8]; /* must be 0 */
};

/* Body b of system s is number s * bodies + b of the arrays; body 0 is the star, whose mass must be
 * above 0, as planets' may be 0. EINVAL: a bad number; ENOTSUP: a device has no double precision;
 * ENOMEM; ENOEXEC. */
nbody_ensemble *nbody_ensemble_create(const struct nbody_ensemble_options *options, size_t systems,
                                      size_t bodies, const double *mass, const double (*pos)[3],
                                      const double (*vel)[3]);
void nbody_ensemble_free(nbody_ensemble *e);

/* Advances all systems by so many steps, and blocks until that is done. ECANCELED when `progress`
 * ended it. */
int nbody_ensemble_step(nbody_ensemble *e, size_t steps);

/* Copies out positions and velocities, systems x bodies rows each; either may be NULL. A planet
 * that went wrong is NAN. */
int nbody_ensemble_state(nbody_ensemble *e, double (*pos)[3], double (*vel)[3]);

/* Fills energy[systems] with the total energies, summed on the host. */
int nbody_ensemble_energies(nbody_ensemble *e, double *energy);

/* nbody_save and nbody_load for ensembles, on any number of devices; loaded into one with the same
 * options and masses. */
size_t nbody_ensemble_save_bytes(const nbody_ensemble *e);
int nbody_ensemble_save(nbody_ensemble *e, void *to);
int nbody_ensemble_load(nbody_ensemble *e, const void *from, size_t size);

/* The time, 0 at creation, and the steps done. */
double nbody_ensemble_time(const nbody_ensemble *e);
size_t nbody_ensemble_steps(const nbody_ensemble *e);

/* ---- Initial conditions. --------------------------------------------------------------------- */

/* All have G = 1. Models that take any n have their centre of mass at rest at the origin, to
 * rounding. */
enum nbody_model {
    /* Plummer's sphere in equilibrium, the field's standard cluster: total mass 1, E = -1/4 and
     * virial radius 1 but for sampling (Henon units); Aarseth, Henon & Wielen 1974, A&A 37, 183. */
    NBODY_PLUMMER,
    /* A uniform sphere, 2K = |U| and E = -1/4 but for sampling: radius 6/5, total mass 1. */
    NBODY_UNIFORM,
    /* A uniform sphere of radius and total mass 1 at rest; collapses at t = 1.1107. */
    NBODY_COLD,
    /* Two of the galaxies of NBODY_GALAXY on a parabolic encounter. They pass at t = 14, stand at
     * the ends of a bridge with long tails at t = 20, and merge by t = 45; eps = 0.05 and dt =
     * 0.025 suit it. The first half of the bodies is the first galaxy. */
    NBODY_COLLISION,
    /* Three bodies on the figure eight of Chenciner & Montgomery; period 6.32591398. */
    NBODY_FIGURE8,
    /* Burrau's three bodies, masses 3, 4 and 5 at rest in a right triangle; chaotic. */
    NBODY_PYTHAGOREAN,
    /* Hernquist's sphere in equilibrium, isotropic, with its cusp: total mass 1, E = -1/4 and
     * virial radius 1 but for sampling (Henon units), without the outermost 1 %; Hernquist 1990,
     * ApJ 356, 359. */
    NBODY_HERNQUIST,
    /* A disk galaxy in equilibrium: an exponential disk with mass and scale length 1, Toomre's Q
     * 1.5, about the z axis, a bulge of mass 1/3 and a dark halo of mass 16/3; McMillan & Dehnen
     * 2007, MNRAS 378, 541, and Hernquist 1993, ApJS 86, 389. 45 % of the bodies are disk, then 15
     * % bulge, and the rest halo. */
    NBODY_GALAXY
};

/* Makes n bodies of a model into mass[n], pos[n], vel[n], by as many threads as there are
 * processors. The same model, n and seed give the same bits on every machine with IEEE arithmetic
 * (counter-based generator, no libm; see nbody/draw.h). EINVAL for n = 0, or when the model has
 * another number of bodies (nbody_model_bodies); ENOMEM. */
int nbody_initial(enum nbody_model model, size_t n, uint64_t seed, double *mass, double (*pos)[3],
                  double (*vel)[3]);

/* Scales bodies of kinetic energy `kinetic` and potential energy `potential` (as nbody_diagnose
 * finds with G = 1) to K = 1/4 and U = -1/2: Henon units exactly, without the sampling noise of n
 * bodies. Bodies at rest stay at rest. potential must be negative. */
void nbody_initial_scale(size_t n, double kinetic, double potential, double (*pos)[3],
                         double (*vel)[3]);

/* The model called "plummer", "hernquist", "uniform", "cold", "galaxy", "collision", "figure8",
 * "pythagorean"; -1, EINVAL. */
int nbody_model_by_name(const char *name);

/* The number of bodies that a model is made of; 0: any number. */
size_t nbody_model_bodies(enum nbody_model model);

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif /* STDCL_NBODY_H */
