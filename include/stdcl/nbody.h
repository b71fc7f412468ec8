/* stdcl/nbody.h - N-body gravity by direct summation or a Barnes-Hut tree on one or several OpenCL
 * devices.
 *
 *   nbody *nb = nbody_create(&(struct nbody_options){.eps = 0.05, .dt = 0.002}, n, mass, pos, vel);
 *   nbody_step(nb, 100);                 100 steps on the device
 *   nbody_diagnose(nb, &d);              energy, momentum, ... reduced on the device
 *   nbody_state(nb, pos, vel);           copy positions and velocities to the host
 *   nbody_free(nb);
 *
 * Units are the caller's: any that are consistent with G. The engine scales all values by powers of
 * two, which is exact, so that kilogrammes and metres or parsecs do not overflow single precision.
 * The acceleration of body i is the sum over j != i of G m_j (x_j - x_i) / (r^2 + eps^2)^(3/2)
 * (Plummer softening); its potential is minus the sum of G m_j / (r^2 + eps^2)^(1/2).
 *
 * int functions return 0, or -1 with clerrno set and a message in clerror(); pointer functions
 * return NULL likewise. One engine is used by one thread at a time; different engines are
 * independent. A NULL handle gives EINVAL, and the function returns -1, NULL, 0 or "". NULL may be
 * freed. Results have equal bits in every run and on any number of devices of one model with equal
 * shapes, wherever batches of steps end and whatever is queried in between: the order of additions
 * depends on n alone.
 *
 * Structs of options may grow in a later version 1 by their reserved words, which must be 0
 * (EINVAL). All other structs are fixed. tests/install/layout.txt lists sizes and offsets.
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

/* Integrators: how a step advances from t to t + dt. One force evaluation per step unless stated
 * otherwise. */
enum nbody_integrator {
    /* Kick-drift-kick, 2nd order, symplectic: v += a dt/2; x += v dt; a = a(x); v += a dt/2. */
    NBODY_LEAPFROG,
    /* 4th order, from accelerations and jerks (Makino & Aarseth 1992, PASJ 44, 141), one evaluation
     * (PEC). Predict xp = x + v dt + a dt^2/2 + j dt^3/6, vp = v + a dt + j dt^2/2; evaluate a1, j1
     * there; a2 = (-6 (a - a1) - dt (4 j + 2 j1)) / dt^2, a3 = (12 (a - a1) + 6 dt (j + j1)) /
     * dt^3; then x = xp + a2 dt^4/24 + a3 dt^5/120, v = vp + a2 dt^3/6 + a3 dt^4/24, a = a1, j =
     * j1. */
    NBODY_HERMITE4,
    /* The classic tutorial's scheme, with a at the old positions, first order: x += v dt + a
     * dt^2/2; v += a dt. For comparison only. */
    NBODY_TAYLOR,
    /* Three leapfrog steps of w1 dt, w0 dt, w1 dt with w1 = 1 / (2 - 2^(1/3)), w0 = 1 - 2 w1: 4th
     * order, symplectic, three evaluations (Yoshida 1990, Phys. Lett. A 150, 262). */
    NBODY_YOSHIDA4,
    /* Gauss-Radau, 15th order, with adaptive steps within each dt, accurate to rounding (Everhart
     * 1985; Rein & Spiegel 2015, MNRAS 446, 1424). On the host, in double precision, for at most
     * 4096 bodies. Each dt restarts the step control, so a long dt is faster; at its end the state
     * is rounded to the engine's precision. EDOM if bodies come so close that steps vanish: the
     * state is then the one before the step. Not with NBODY_TREE. */
    NBODY_IAS15,
    /* 6th order, from accelerations, jerks and snaps (Nitadori & Makino 2008, New Astronomy 13,
     * 498), one evaluation (PEC). Predict x to dt^5, v to dt^4 and a to dt^3, with s and k the
     * derivatives of j; evaluate a1, j1, s1 there; then v1 = v + dt/2 (a + a1) - dt^2/10 (j1 - j) +
     * dt^3/120 (s + s1) and x1 = x + dt/2 (v + v1) - dt^2/10 (a1 - a) + dt^3/120 (j + j1), and k
     * from the polynomial of 5th degree through both ends. The first step has k = 0. */
    NBODY_HERMITE6,
    /* Wisdom & Holman (1991, AJ 102, 1528) for planets: Kepler motion for dt/2, a kick by all other
     * forces for dt, Kepler motion for dt/2; 2nd order, symplectic, with an error smaller than
     * leapfrog's by the planets' mass fraction. Body 0 is the star. A symplectic corrector (Wisdom
     * 2006, AJ 131, 2294) removes the largest error terms from all results. On the host, without a
     * trend in the rounding errors (Rein & Tamayo 2015, MNRAS 452, 376), for at most 4096 bodies;
     * options in nbody_options.whfast. Needs a mass of body 0, no softening, NBODY_FIXED, and
     * double or mixed precision. Use at least 20 steps per shortest period. Close encounters of
     * planets are not resolved. */
    NBODY_WHFAST,
    /* TRACE (Lu, Hernandez & Rein 2024, MNRAS 533, 3708): steps of Wisdom & Holman in democratic
     * heliocentric coordinates, 2nd order, in which planets close to each other, or all bodies if
     * one is at its pericentre, follow NBODY_IAS15 instead. A step that ends in an encounter which
     * its begin did not foresee is repeated, so that steps are reversible and energy errors stay
     * bounded. As NBODY_WHFAST on the host, with the star as body 0, without softening and fields,
     * and in double or mixed precision; options in nbody_options.trace. EDOM if bodies come so
     * close that steps vanish. */
    NBODY_TRACE
};

/* Coordinates of NBODY_WHFAST. Jacobi: each body from the centre of mass of the bodies before it;
 * for planets in the order of their distances. Democratic heliocentric (Duncan, Levison & Lee 1998,
 * AJ 116, 2067): positions from the star, velocities from the centre of mass; for any order. */
enum nbody_coordinates { NBODY_JACOBI, NBODY_HELIOCENTRIC };

struct nbody_whfast_options {
    enum nbody_coordinates coordinates;
    /* Order of the corrector: 3, 5, 7, 11 or 17. 0: 17 with NBODY_JACOBI, else none. -1: none, the
     * only choice with NBODY_HELIOCENTRIC. */
    int corrector;
    /* 1: begin each step from rounded positions and velocities, which is slower. 0: combine the
     * Kepler motions of consecutive steps; results are computed on the side. */
    int safe;
    uintptr_t reserved[8]; /* must be 0 */
};

struct nbody_trace_options {
    /* Distance below which two planets are in a close encounter, in units of the greater of their
     * Hill radii r (m / 3 M)^(1/3); 0 = 3. Includes the distance that straight motion will reach,
     * or has had, within half a step. Test particles, of mass 0, meet planets only. */
    double hill;
    /* Longest step, in units of the time scale of a planet's acceleration (2 a^2 / (a'^2 + a
     * a''))^(1/2), which on a circle is the period / 2 pi; otherwise the planet is at its
     * pericentre (Pham, Rein & Spiegel 2024, OJAp 7, 1). 0 = 1. */
    double pericentre;
    uintptr_t reserved[8]; /* must be 0 */
};

/* Time-step schemes. */
enum nbody_stepping {
    NBODY_FIXED, /* constant dt */
    /* Shared adaptive steps dt / 2^k, set by the body that needs the shortest. Not with
     * NBODY_IAS15, which adapts its steps itself. */
    NBODY_ADAPTIVE,
    /* Individual block steps dt / 2^k: forces are computed only for bodies whose step ends
     * (McMillan 1986, in LNP 267, 156; Makino 1991, PASJ 43, 859). All bodies are synchronised at
     * every dt. */
    NBODY_BLOCK
};

struct nbody_integrator_info {
    const char *name;  /* "leapfrog", ... */
    const char *about; /* one line */
    int order;         /* order: halving dt divides the error by 2^order */
    int derivatives;   /* derivatives of the acceleration: 0, 1 (hermite4) or 2 */
};

/* Describe an integrator; static. NULL if the number is out of range, so a loop from 0 lists all
 * integrators. */
const struct nbody_integrator_info *nbody_integrator_describe(enum nbody_integrator integrator);

/* Precision of the state and of the pair sums on the device. Diagnostics are always summed in
 * double (on a device without double precision, in pairs of floats).
 *   NBODY_SINGLE  float. Relative force errors are about 1e-7 for 1,000 bodies and 4e-7 for 100,000
 *                 (root mean square, Plummer spheres). Positions have 24 bits, counted from the
 *                 origin: centre the system at the origin. Forces in a system 100 times its own
 *                 size away from the origin are wrong by 1e-4, at 10,000 times by 1 to 3 %, at
 *                 1,000,000 times by 8 to 40 %, without any message. Without softening, forces
 *                 between pairs closer than 5e-9 of the largest coordinate are too weak
 *   NBODY_DOUBLE  double
 *   NBODY_MIXED   state and position differences in double (differences as pairs of floats relative
 *                 to the initial centre of mass: 48 bits), pair forces in float, their sums in
 *                 double. Force errors are about 1e-7 at any distance from the origin, also between
 *                 bodies 1e-8 of the system's size apart; energies have double precision. Needs
 *                 NBODY_TUNED, NBODY_DIRECT and an integrator without derivatives (EINVAL
 *                 otherwise)
 *
 * Double and mixed need a device with double precision. */
enum nbody_precision { NBODY_SINGLE, NBODY_DOUBLE, NBODY_MIXED };

/* Force kernels. Use NBODY_TUNED; the others are simple baselines to read
 * (nbody/force/baseline.cl) and to compare with. All agree to rounding. The baselines run on one
 * device and compute no derivatives, so they exclude the Hermite integrators. */
enum nbody_kernel {
    NBODY_TUNED, /* the device's tuned shape: register blocking, splits, rsqrt */
    /* array of structures, with a branch that skips the body itself */
    NBODY_NAIVE,
    NBODY_BRANCHLESS, /* array of structures, two loops: j < i, then j > i */
    NBODY_TILED       /* {x, y, z, m} tiles, copied to local memory */
};

/* Force methods. */
enum nbody_method {
    NBODY_DIRECT, /* direct summation over all pairs, O(n^2) */
    /* Octree (Barnes & Hut 1986, Nature 324, 446), O(n log n): distant cells act by their monopole
     * and quadrupole, at high accuracy up to the hexadecapole. `accuracy` sets the error. */
    NBODY_TREE,
    NBODY_AUTO /* the faster one for n bodies */
};

/* Where steps are computed. On the host one thread computes them in double precision, as fast for
 * few bodies as a program for the purpose: no launch of a kernel takes less than some microseconds.
 * Results there have equal bits on all machines, and forces, potentials and energies for the caller
 * are computed there, too, so that no kernel is built. NBODY_IAS15, NBODY_WHFAST and NBODY_TRACE
 * always compute on the host. With nbody_options.ctx NULL such an engine has no device:
 * nbody_devices is 0, and nbody_time_forces and nbody_check_forces fail with ENODEV. */
enum nbody_place {
    NBODY_ON_DEVICES,
    /* At most 4096 bodies; NBODY_DIRECT, NBODY_TUNED, double or mixed precision, one rank, and
     * fixed or adaptive steps of any integrator (EINVAL otherwise). */
    NBODY_ON_HOST,
    /* On the host if it supports the options and n <= NBODY_FEW; else on devices. */
    NBODY_ON_FASTER
};
enum { NBODY_FEW = 128 };

/* External potentials, fixed about the origin. Phi: potential per unit mass at distance r. */
enum nbody_field_kind {
    NBODY_FIELD_POINT,   /* Phi = -G strength / r; no force at the origin */
    NBODY_FIELD_PLUMMER, /* Phi = -G strength / (r^2 + scale^2)^(1/2) */
    /* Phi = strength^2 / 2 ln(1 + r^2 / scale^2): the circular speed tends to `strength` far
     * outside. */
    NBODY_FIELD_LOGARITHMIC
};
struct nbody_field {
    enum nbody_field_kind kind;
    double strength; /* mass > 0, or speed > 0 */
    double scale;    /* length > 0; ignored for NBODY_FIELD_POINT */
};

/* Options of nbody_create. Zero means the default, except in dt. */
struct nbody_options {
    /* All devices of the context are used. Not owned; must outlive the engine. NULL: stdgpu, else
     * stdcpu; for steps on the host no device is opened, and none is needed, except for forces from
     * files. Shares and shape are then ignored. */
    CLCONTEXT *ctx;
    enum nbody_integrator integrator;
    enum nbody_precision precision;
    enum nbody_kernel kernel; /* for accelerations; potentials use the tuned kernel */
    double G;                 /* gravitational constant; 0 = 1 */
    double eps;               /* softening length (not its square), >= 0 */
    double dt;                /* time step; not 0; negative runs backwards */
    /* Steps per batch, enqueued without waiting; after each batch the host checks for NaN and finds
     * the step that caused it. At most 256; 0 = automatic. */
    size_t burst;
    /* Relative share of the bodies for each device of ctx, >= 0. NULL: equal on devices of one
     * model, else by a short measurement; shares, and so the rounding, may then differ between
     * runs. */
    const double *shares;
    /* Progress callback of nbody_step, nbody_forces, nbody_time_forces and nbody_diagnose, in the
     * calling thread, with the fraction done, 0 to 1. A nonzero return value cancels the call soon,
     * with ECANCELED. May be NULL. */
    int (*progress)(void *arg, double fraction);
    void *arg;
    /* KEY=NUMBER words that override the device's launch shape, see nbody/README.md. */
    const char *shape;
    enum nbody_method method;
    /* Tree: relative error of accelerations that 99 of 100 bodies stay below; at most 0.5. 0 =
     * 1e-3. */
    double accuracy;
    /* External potentials; copied. Forces, potentials and energies include them; total momentum is
     * then not conserved. */
    const struct nbody_field *fields;
    size_t nfields;
    /* Softening length of each body, n values >= 0; copied. A pair uses the mean of both squares;
     * eps is then ignored. NULL: eps for all. Needs NBODY_DIRECT, NBODY_TUNED, NBODY_FIXED and
     * single or double precision. */
    const double *softening;
    /* Other schemes than NBODY_FIXED need NBODY_DIRECT, and for NBODY_BLOCK NBODY_HERMITE4; or
     * NBODY_BLOCK with NBODY_LEAPFROG, NBODY_TREE and a softening. dt is then the longest step and
     * the unit of nbody_step; queries and saved states refer to its ends. Only the first device of
     * ctx with a share computes adaptive and block steps. */
    enum nbody_stepping stepping;
    /* Accuracy parameter of adaptive and block steps; step length scales as sqrt(eta). With the
     * tree (2 eta eps / |a|)^1/2 (Springel 2005, MNRAS 364, 1105); 0 = 0.025. With hermite4
     * Aarseth's (eta (|a| |a2| + |j|^2) / (|j| |a3| + |a2|^2))^1/2, where a2 and a3 are the
     * derivatives of j, at most twice the previous step; 0 = 0.01. With other integrators (eta /
     * w^2)^1/2, where w^2 is the largest sum over j of G (m_i + m_j) / (r^2 + eps^2)^3/2; 0 =
     * 0.001, that is 2 pi / eta^1/2 steps per circular orbit. */
    double eta;
    /* Ranks that divide the force sums of fixed steps; NULL: alone. Not owned. All ranks pass equal
     * bodies, or slices (`count`). All functions except queries are then collective and give all
     * ranks equal results. */
    stdcl_world *world;
    enum nbody_place place;
    struct nbody_whfast_options whfast;
    /* Forces beside gravity, one a line, copied: NAME:KEY=NUMBER,... with the names and parameters
     * below, or FILE.cl:KEY=NUMBER,... NULL: none. */
    const char *forces;
    /* 1: follow a tangent vector of the motion, for nbody_find_chaos. Needs NBODY_WHFAST without
     * safe mode, or NBODY_IAS15, which records growth once per dt; double or mixed precision; and
     * no fields or other forces. */
    int megno;
    struct nbody_trace_options trace;
    /* Number of the first body in messages: 0, as in arrays, or 1 for users who count from 1. */
    int first_number;
    /* With a world: the slice of the bodies that this rank passes and receives. The arrays of
     * nbody_create, nbody_state and nbody_forces then hold only the `count` bodies from body
     * `first` on, and no rank holds arrays of all bodies for its caller. The slices follow one
     * another in the order of ranks and together are all n bodies. 0 on all ranks: every rank
     * passes and receives all bodies. Results have equal bits either way. EINVAL: slices that
     * overlap, leave bodies out or are empty. ENOTSUP: with softening or forces. */
    size_t first, count;
    uintptr_t reserved[8]; /* must be 0 */
};

/* Forces of nbody_options.forces, such as "nfw:M=1,a=20\ndrag.cl:gamma=0.01". M in units of mass, c
 * is the speed of light, angles are radians; x [0] is 0 if not given. Potentials per unit mass:
 *
 *   nfw:M,a                        Phi = -G M ln(1 + r/a) / r, with M = 4 pi rho_0 a^3 (Navarro,
 *                                  Frenk & White 1997, ApJ 490, 493)
 *   miyamoto-nagai:M,a,b           Phi = -G M / (x^2 + y^2 + (a + (z^2 + b^2)^1/2)^2)^1/2 (1975,
 *                                  PASJ 27, 533)
 *   logarithmic:v,r,q[1]           Phi = v^2 / 2 ln(1 + (x^2 + y^2 + z^2 / q^2) / r^2)
 *   point:M,eps[0],x[0],y[0],z[0],vx[0],vy[0],vz[0]
 *                                  a point of mass M at (x, y, z) at time 0, on a straight line
 *   orbit:M,centre,a,e[0],inc[0],Omega[0],omega[0],l[0],eps[0]
 *                                  a point of mass M on an ellipse about the origin, of period
 *                                  2 pi (a^3 / (G (centre + M)))^1/2 and mean anomaly l at time 0
 *   relativity:c,body[0]           Phi = -3 (G m / (c r))^2 about a body of mass m, which turns
 *                                  pericentres as general relativity does (Nobili & Roxburgh 1986)
 *   relativity-pairs:c             all bodies to order 1/c^2 (Newhall et al. 1983, A&A 125, 150);
 *                                  on the host
 *   oblate:J2,R,J4[0],body[0],nx[0],ny[0],nz[1]
 *                                  Phi = G m / r (J2 (R/r)^2 P2 + J4 (R/r)^4 P4) about a body with
 *                                  the axis (nx, ny, nz)
 *   radiation:beta,c,body[0],first[1],last
 *                                  pressure of beta times the gravity of a body on the bodies first
 *                                  to last, with Poynting-Robertson drag if c is given (Burns et
 *                                  al. 1979, Icarus 40, 1)
 *   mass-loss:tau,body[0]          the gravity of a body falls as exp(-t / tau)
 *
 * `relativity` and `oblate` act back on their body, which conserves momentum. Energies contain the
 * potentials, not drag and relativity-pairs. They are constant for forces that do not change with
 * time and have no drag; nbody_diagnostics.kinetic keeps the initial masses.
 *
 * A file defines, in OpenCL C and in the caller's units,
 *
 *   real3 force(real3 position, real3 velocity, real mass, real time, uint index)
 *   {
 *       return -gamma * velocity;
 *   }
 *
 * which returns the acceleration of body `index`. `real` is the precision of the engine, and each
 * KEY a number. Forces from files have no potential. With the line `#define FORCE_OF_POSITION` the
 * function must not use `velocity`. With NBODY_ON_FASTER they run on devices; on the host each
 * evaluation is a launch.
 *
 * A range without bodies, such as first=3,last=2, is EINVAL. Where a force jumps, as in the centre
 * of nfw, NBODY_IAS15 makes short steps; other integrators lose accuracy there.
 *
 * Fixed steps, one rank; NBODY_IAS15, NBODY_LEAPFROG, NBODY_TAYLOR, NBODY_WHFAST with NBODY_JACOBI,
 * and without velocities NBODY_YOSHIDA4. Bodies as sources: not with NBODY_TREE. Else nbody_create
 * fails with EINVAL or ENOTSUP, and with ENOEXEC (and the log) if a file does not compile. */

/* Create an engine with n >= 1 bodies, copied from the caller's arrays: mass[i] >= 0, position
 * pos[i][0..2], velocity vel[i][0..2], all finite; with nbody_options.count the arrays hold this
 * rank's slice. The caller frees it with nbody_free. Builds the
 * kernels and warms them up, which takes about a second; for steps on the host there are none.
 * Bodies at one place do not attract each other, whatever eps.
 *
 * Device memory in single precision: 44 bytes per body owned by the device (104 with hermite4), 16
 * per other body (32), and at most 192 MiB of workspace (384) for up to 4 million bodies. The tree
 * adds about 100 bytes per body, the naive and branchless kernels 64. Double precision doubles all
 * of these.
 *
 * EINVAL: an invalid number, a body 10^15 times (in double precision 10^140) farther from the
 * middle than half of the bodies, or a kernel that does not support an option (named). ENODEV: no
 * device, where one is needed. ENOTSUP: a device lacks double precision. ENOMEM. ENOEXEC: a kernel
 * does not build (with the log). */
nbody *nbody_create(const struct nbody_options *options, size_t n, const double *mass,
                    const double (*pos)[3], const double (*vel)[3]);

/* Free the engine and its device memory, after waiting for work in flight. NULL is allowed. */
void nbody_free(nbody *nb);

/* Advance by `steps` steps of dt and block until done.
 *   EDOM       a position or velocity became NaN or infinite: the message names the first such
 *              step, and the state is lost. With adaptive or block steps also if a step falls below
 *              2^-40 dt: the message names two bodies, and the state is the one before the step of
 *              dt
 *   ECANCELED  `progress` cancelled: the state is the one after the last whole step,
 *              nbody_steps(nb), and the run may continue
 */
int nbody_step(nbody *nb, size_t steps);

/* Set the time step from now on (not 0), e.g. to end a run at a given time. EINVAL: 0, or less than
 * has passed of the current step. */
int nbody_set_dt(nbody *nb, double dt);

/* What a force of the caller depends on, beside the masses. */
enum nbody_force_kind { NBODY_FORCE_OF_POSITION, NBODY_FORCE_OF_VELOCITY };

/* Add a force of the caller to all others from now on; a NULL function removes it. `force` is
 * called in the thread of nbody_step, nbody_state or nbody_forces, once per evaluation: it adds to
 * acc[i] the accelerations of all n bodies, at the time `time`, positions pos[i], velocities
 * vel[i] and with the masses mass[i], in the caller's units and the order of nbody_create. It
 * must not call the engine. A nonzero return value ends the call with ECANCELED, with the state
 * before the step. All arrays belong to the engine, only during the call.
 *
 * kind: NBODY_FORCE_OF_POSITION depends on positions and time alone, and vel is NULL.
 * NBODY_FORCE_OF_VELOCITY also depends on velocities, such as drag. Leapfrog, ias15 and whfast then
 * keep their order: leapfrog passes velocities predicted over half a step, and whfast calls twice
 * per kick. yoshida4 would fall to 2nd order.
 *
 * Positions and steps include this force, nbody_forces too; potentials and energies do not. It is
 * not saved: set it again after nbody_load, before the next step.
 *
 * Needs steps on the host: NBODY_IAS15, NBODY_WHFAST with NBODY_JACOBI, or NBODY_ON_HOST or few
 * bodies with NBODY_ON_FASTER and NBODY_LEAPFROG, NBODY_YOSHIDA4 or NBODY_TAYLOR; NBODY_FIXED.
 * ENOTSUP otherwise, and for NBODY_FORCE_OF_VELOCITY with NBODY_YOSHIDA4. EINVAL: an unknown kind.
 * ENOMEM. nbody_step: EDOM if the function returns an acceleration that is not finite. */
int nbody_set_force_callback(nbody *nb,
                             int (*force)(void *arg, double time, size_t n, const double (*pos)[3],
                                          const double (*vel)[3], const double *mass,
                                          double (*acc)[3]),
                             void *arg, enum nbody_force_kind kind);

/* Set the current time and the number of steps done, for an engine that continues another run. No
 * part of the next step has passed then. Forces that depend on time, and events, count from the
 * same time 0: an engine for the bodies of a file continues at the file's time. */
void nbody_set_clock(nbody *nb, double time, size_t steps);

/* Copy positions and velocities of the current time to the host, n rows each, in the caller's units
 * and the order of nbody_create; with nbody_options.count the rows of this rank's slice. Either may
 * be NULL. */
int nbody_state(nbody *nb, double (*pos)[3], double (*vel)[3]);

/* Copy positions and velocities of `count` bodies in single precision, for pictures: row k is body
 * which[k], or body k if `which` is NULL. Only these bodies are copied from the devices. pos or vel
 * may be NULL. With a world: collective; all ranks pass equal arguments and receive the rows.
 * EINVAL: a body out of range. */
int nbody_positions(nbody *nb, size_t count, const uint32_t *which, float (*pos)[3],
                    float (*vel)[3]);

/* Compute every body's acceleration and potential (per unit mass, negative except for logarithmic
 * fields) at the current time, without stepping, into n rows each, or those of this rank's slice.
 * Either may be NULL. */
int nbody_forces(nbody *nb, double (*acc)[3], double *potential);

/* Compute all accelerations `times` times without copies to the host, and return the seconds taken.
 * Changes nothing else. ENODEV: the engine has no device. */
int nbody_time_forces(nbody *nb, size_t times, double *seconds);

/* Save the complete state for a bit-identical continuation: copy nbody_save_bytes(nb) bytes to the
 * caller's memory; or load it. Load into an engine created with equal options, shapes and masses
 * (its positions do not matter), on any number of devices of that model and ranks, and with any
 * shares; nbody_device_bodies and nbody_shape report these. Collective: all ranks save and load all
 * bytes; nbody_load reads only the bytes of the rank's bodies. The format belongs to one version of
 * the library on one kind of machine and has no checksum. EINVAL: the bytes belong to another
 * engine (the message says how it differs), also if the file of a force has changed. After any
 * other failure of nbody_load the state is lost. */
size_t nbody_save_bytes(const nbody *nb);
int nbody_save(nbody *nb, void *to);
int nbody_load(nbody *nb, const void *from, size_t size);

/* Save as nbody_save does, without memory for all bytes: pass the bytes of this rank's bodies to
 * `put` in pieces, with their offsets. The pieces of all ranks are all bytes, each once. A piece is
 * valid only during its call. `put` returns 0, or -1 after an error of the library, with which the
 * call ends on all ranks. Collective; `put` is called a different number of times on each rank. */
int nbody_save_pieces(nbody *nb,
                      int (*put)(void *arg, size_t offset, const void *bytes, size_t size),
                      void *arg);

/* Save asynchronously, in two steps. nbody_snapshot_begin copies the current state to spare memory
 * of the devices and host, allocated by the first call and freed by nbody_free, without blocking
 * otherwise; if memory is short, and with ranks, it blocks as nbody_save does. Collective.
 * nbody_snapshot_read copies the snapshot to the caller's memory, any number of times, from any
 * thread, also while another thread uses the engine, except for nbody_snapshot_begin and
 * nbody_free. ENOMEM; EIO: a device failed; EINVAL: no snapshot. */
int nbody_snapshot_begin(nbody *nb);
int nbody_snapshot_read(nbody *nb, void *to);

/* Sums over all bodies at the current time. Energies include the softening. */
struct nbody_diagnostics {
    double time;
    double kinetic;             /* sum m v^2 / 2 */
    double potential;           /* sum over pairs, and over bodies in fields */
    double total;               /* kinetic + potential */
    double momentum[3];         /* sum m v */
    double angular_momentum[3]; /* sum m x cross v, about the origin */
    /* 2 kinetic / |potential|; external fields contribute sum m x a; 0 without a potential. */
    double virial_ratio;
};

/* Compute the diagnostics; costs about one force evaluation. EDOM: a sum exceeds the range of the
 * engine's precision (named), because the run diverged or needs double precision. */
int nbody_diagnose(nbody *nb, struct nbody_diagnostics *d);

/* Accuracy of accelerations at the current time: relative errors |a - r| / |r| of sampled bodies,
 * where r is the direct sum in double precision. */
struct nbody_force_errors {
    size_t bodies;                       /* bodies checked */
    double median, p90, p99, p999, most; /* 50, 90, 99 and 99.9 % quantiles; maximum */
    size_t worst;                        /* body with the largest error */
};

/* Check the accelerations of `samples` bodies drawn at random by `seed`, or of all bodies if
 * samples >= n. Each device sums over its own bodies. Collective. EINVAL: no samples. ENODEV: the
 * engine has no device. ENOTSUP: a device lacks double precision, added forces, or slices of
 * bodies. ENOMEM. */
int nbody_check_forces(nbody *nb, size_t samples, uint64_t seed, struct nbody_force_errors *errors);

/* Return the method in use, never NBODY_AUTO; and the reason for its choice, owned by the
 * engine. */
enum nbody_method nbody_method(const nbody *nb);
const char *nbody_explain_method(const nbody *nb);

/* Return where steps are computed, NBODY_ON_DEVICES or NBODY_ON_HOST. */
enum nbody_place nbody_place(const nbody *nb);

/* Return the current time (0 at creation); the steps done; the number of bodies; the pair
 * interactions computed by steps so far, n^2 per force evaluation by convention, 0 with the
 * tree. */
double nbody_time(const nbody *nb);
size_t nbody_steps(const nbody *nb);
size_t nbody_bodies(const nbody *nb);
double nbody_interactions(const nbody *nb);

/* Return the number of distinct times at which adaptive or block steps ended, and the number of
 * individual steps, summed over bodies. 0 with NBODY_FIXED. Either may be NULL. */
void nbody_block_counts(const nbody *nb, double *blocks, double *steps);

/* Return the eta in use; 0 with NBODY_FIXED. */
double nbody_eta(const nbody *nb);

/* Return the roofline of the devices in use in interactions/s: their measured multiply-add rate
 * (clpeak, which takes a moment at first) divided by the instructions per pair (nbody/README.md,
 * "One interaction"); 0 if unknown. A device in use by another program measures too low. */
double nbody_peak_rate(const nbody *nb);

/* Return the most memory allocated for the engine on any one device, in bytes. */
size_t nbody_device_bytes(const nbody *nb);

/* Return the number of devices in use; and for device `dev` of the context the number of bodies
 * that it owns (0: idle), its launch shape as KEY=NUMBER words, and the reason for the shape's
 * choice. Texts are owned by the engine. */
unsigned nbody_devices(const nbody *nb);
size_t nbody_device_bodies(const nbody *nb, unsigned dev);
const char *nbody_shape(const nbody *nb, unsigned dev);
const char *nbody_explain(const nbody *nb, unsigned dev);

/* Return the kernels that `stdcl tune` can tune: the pair sums in single and double precision, with
 * and without the jerk that hermite4 needs. Static; *count entries. */
const struct cltune_kernel *nbody_tune_kernels(size_t *count);

/* ---- Analysis. ------------------------------------------------------------------------------- */

/* Kepler elements of a relative orbit; gm is G times the sum of both masses. Angles in radians, 0
 * to 2 pi. In the plane z = 0 the node is 0, and on a circle the pericentre is 0. Radial motion
 * has eccentricity 1, its pericentre lies opposite to the body, and its plane is the one of least
 * inclination through the line. On a parabola semi_major is infinite and the mean anomaly 0. gm or
 * the distance 0 gives NAN for all elements. Computed on the host, as is everything in this
 * section. */
struct nbody_elements {
    double semi_major; /* negative for a hyperbola */
    double eccentricity;
    double inclination;  /* to the plane z = 0; 0 to pi */
    double node;         /* longitude of the ascending node */
    double pericentre;   /* argument of the pericentre */
    double mean_anomaly; /* of either sign on a hyperbola */
    double period;       /* INFINITY for a hyperbola */
};
struct nbody_elements nbody_find_elements(double gm, const double pos[3], const double vel[3]);

/* Relative position and velocity on an orbit: the inverse of nbody_find_elements. `period` is not
 * read. Kepler's equation is solved to rounding. -1 with EINVAL unless gm > 0 and either
 * semi_major > 0 with 0 <= eccentricity < 1, or semi_major < 0 with eccentricity > 1. */
int nbody_orbit_state(double gm, const struct nbody_elements *orbit, double pos[3], double vel[3]);

/* A binary: two bound bodies, mutually nearest neighbours, with every other body farther away than
 * the apocentre of their orbit. */
struct nbody_binary {
    size_t first, second;
    struct nbody_elements orbit;
};

/* A shell between two Lagrange radii about the density centre and its velocity. */
struct nbody_shell {
    /* Input: mass fraction inside `radius`, ascending, above 0 and at most 1. */
    double fraction;
    double radius;
    double mean_mass;
    double radial;     /* radial velocity dispersion */
    double tangential; /* tangential velocity dispersion in one dimension */
    double anisotropy; /* 1 - tangential^2 / radial^2; NAN if radial is 0 */
};

struct nbody_structure {
    /* Density centre and its velocity, by sixth neighbours (Casertano & Hut 1985, ApJ 298, 80). */
    double centre[3], velocity[3];
    /* Root mean square distance from the centre, weighted by squared density. */
    double core_radius;
    double half_mass_radius;
    /* 0.138 N r^1.5 / (sqrt(G M) ln 0.11 N) at the half-mass radius r (Giersz & Heggie 1994). */
    double relaxation_time;
    size_t escapers; /* bodies of positive energy beyond half_mass_radius */
    size_t binaries;
    /* `binaries` entries, closest first; the caller calls free(). NULL: none. */
    struct nbody_binary *binary;
};

/* Analyse a system: fill *s, and the shells at the given fractions. `potential` is from
 * nbody_forces; NULL: escapers is 0. O(n log n), multithreaded. With fewer than 7 bodies the centre
 * is the centre of mass and the core radius is 0. ENOMEM; EINVAL: no mass, or invalid fractions. */
int nbody_find_structure(size_t n, double G, const double *mass, const double (*pos)[3],
                         const double (*vel)[3], const double *potential, size_t shells,
                         struct nbody_shell *shell, struct nbody_structure *s);

/* Analyse a system on device `dev` of ctx, except the orbits of binaries. Otherwise as
 * nbody_find_structure. ENOEXEC: a device of ctx lacks double precision. */
int nbody_find_structure_device(CLCONTEXT *ctx, cl_uint dev, size_t n, double G, const double *mass,
                                const double (*pos)[3], const double (*vel)[3],
                                const double *potential, size_t shells, struct nbody_shell *shell,
                                struct nbody_structure *s);

/* A contact of two bodies: their distance fell to the sum of their radii. */
struct nbody_contact {
    size_t first, second; /* first < second */
    double before;        /* time since the contact, 0 to |dt| */
};

/* Find the pairs that touched during the last step dt, or overlap if dt is 0, assuming linear
 * motion: *contacts entries, earliest first; the caller calls free(*contact). NULL: none.
 * ENOMEM. */
int nbody_find_contacts(size_t n, const double *radius, const double (*pos)[3],
                        const double (*vel)[3], double dt, struct nbody_contact **contact,
                        size_t *contacts);

/* Look for contacts from now on, with the radius >= 0 of each body, copied; NULL: no longer.
 * nbody_step then ends early, with 0: with NBODY_IAS15 at the first contact, at its exact time;
 * with adaptive steps at the end of the inner step; with NBODY_TRACE at the end of the step. Bodies
 * that overlap at the start touch at once. Paths are the integrator's polynomials, or cubics
 * through positions and velocities of adaptive steps and of NBODY_TRACE. A pair is not reported
 * again before it has been apart. EINVAL: a radius. ENOTSUP: block steps, and fixed steps of other
 * integrators (use nbody_find_contacts). ENOMEM. */
int nbody_watch_contacts(nbody *nb, const double *radius);

/* Return the *contacts contacts at which the last nbody_step ended, earliest first, with the time
 * since each in `before`; owned by the engine, until the next nbody_step. NULL: none. */
const struct nbody_contact *nbody_contacts(const nbody *nb, size_t *contacts);

/* Events that nbody_step records, with the relative position d and velocity w of two bodies. */
enum nbody_event_kind {
    NBODY_ENCOUNTER,  /* closest approach at a distance below `limit` */
    NBODY_PERICENTRE, /* d w becomes positive: smallest distance of `body` from `other` */
    NBODY_APOCENTRE,  /* d w becomes negative: largest distance */
    /* `body` crosses `other` as seen from far on the positive axis `axis`: d is positive on this
     * axis and 0 on the next (x, y, z, x). With a limit > 0 only if |d| on the third axis is at
     * most `limit`. */
    NBODY_TRANSIT,
    NBODY_ESCAPE /* the distance of `body` from `other` exceeds `limit` */
};

/* Events to look for; bodies are numbered from 0. body = other stands for all: encounters of all
 * pairs, apsides and transits of all other bodies about `other`, and escapes of all bodies from
 * the origin. */
struct nbody_event_rule {
    enum nbody_event_kind kind;
    size_t body, other;
    double limit; /* a distance */
    int axis;     /* of a transit: 0 x, 1 y, 2 z */
    int stop;     /* 1: nbody_step ends at the event */
};

/* An event: the rule's number, the bodies (of an escape from the origin both the same), the time,
 * and position and velocity of `body` relative to `other`. */
struct nbody_event_record {
    size_t rule, body, other;
    double time, pos[3], vel[3];
};

/* Look for events of `rules` rules from now on, copied; 0: no longer. A new call forgets the
 * previous one; call it again after nbody_load. Times come from the polynomials of NBODY_IAS15.
 * Steps of other integrators must be short enough that an event's quantity changes sign at most
 * once in each; where it does, NBODY_IAS15 repeats the step on a copy (up to 4096 bodies with
 * NBODY_DIRECT; else cubics through positions and velocities are used). With `stop` NBODY_IAS15
 * ends nbody_step at the event, other integrators at the end of their step. Fixed steps are then
 * made one by one, which costs a copy to the host each on devices. EINVAL: a rule (named). ENOTSUP:
 * NBODY_BLOCK, several ranks. ENOMEM. */
int nbody_watch_events(nbody *nb, size_t rules, const struct nbody_event_rule *rule);

/* Return the *events events of the last nbody_step in the order in which the run passes them; owned
 * by the engine, until the next nbody_step. NULL: none. */
const struct nbody_event_record *nbody_events(const nbody *nb, size_t *events);

/* Return how much of the current step has passed: 0, or up to dt after a contact. nbody_time
 * includes it, nbody_steps does not, and the next nbody_step first completes this step, as its
 * first. Or set it, for an engine that continues another run. EINVAL: longer than dt. ENOTSUP: as
 * nbody_watch_contacts. */
double nbody_elapsed(const nbody *nb);
int nbody_set_elapsed(nbody *nb, double elapsed);

/* Indicators of chaos since creation, from the growth of a tangent vector d, a solution of the
 * variational equations (Rein & Tamayo 2016, MNRAS 459, 2275). MEGNO at the time t is Y = 2/t times
 * the integral of t (ln |d|)' from 0 to t. The mean of Y over time converges to 2 for regular
 * motion, and grows as lyapunov t / 2 for chaotic motion (Cincotta & Simo 2000, A&AS 147, 205). */
struct nbody_chaos {
    double megno;     /* mean over the time from 0 to t */
    double megno_now; /* Y */
    double lyapunov;  /* largest Lyapunov exponent, ln (|d(t)| / |d(0)|) / t; 1/time */
    double time;      /* t: the sum of the steps' lengths */
};

/* Compute the indicators of an engine with nbody_options.megno. Blocks. EINVAL: without megno. */
int nbody_find_chaos(nbody *nb, struct nbody_chaos *chaos);

/* ---- Ensembles of planetary systems. --------------------------------------------------------- */

/* An ensemble of planetary systems: a star and 1 to 15 planets each, equal numbers in all, one
 * work-item per system; for studies of chaos, masses or initial conditions. Steps are symplectic,
 * 2nd order, in double precision: Kepler motion about the star between kicks by the other planets
 * (Wisdom & Holman 1991, AJ 102, 1528), in democratic heliocentric coordinates (Duncan, Levison &
 * Lee 1998, AJ 116, 2067). Orbits may have any shape, but close encounters between planets are
 * resolved only with NBODY_IAS15. */
typedef struct nbody_ensemble nbody_ensemble;

struct nbody_ensemble_options {
    /* Devices; each computes a part of the systems. NULL: stdgpu, else stdcpu. Not owned. */
    CLCONTEXT *ctx;
    double G; /* gravitational constant; 0 = 1 */
    /* Time step; not 0; at most 1/20 of the shortest period. With NBODY_IAS15 a period or more,
     * since each dt restarts the step control. */
    double dt;
    /* 0: Wisdom-Holman. NBODY_WHFAST: the same method with the coordinates and correctors of a
     * single run; results have the bits of single runs on devices that round as IEEE 754 demands.
     * NBODY_IAS15: Gauss-Radau, 15th order, with adaptive steps within dt for each system, accurate
     * to rounding, close encounters included. */
    enum nbody_integrator integrator;
    /* As in nbody_options. After a cancelled call nbody_ensemble_steps returns the whole steps
     * done. */
    int (*progress)(void *arg, double fraction);
    void *arg;
    struct nbody_whfast_options whfast;
    /* For nbody_ensemble_find_chaos, as in nbody_options; needs NBODY_WHFAST, or NBODY_IAS15, which
     * adds the growth of the tangent vector once per dt. */
    int megno;
    uintptr_t reserved[8]; /* must be 0 */
};

/* Create an ensemble; the caller frees it. Body b of system s is entry s * bodies + b of the
 * arrays. Body 0 is the star, with mass > 0; planets may have mass 0. EINVAL: an invalid number.
 * ENOTSUP: a device lacks double precision. ENOMEM. ENOEXEC. */
nbody_ensemble *nbody_ensemble_create(const struct nbody_ensemble_options *options, size_t systems,
                                      size_t bodies, const double *mass, const double (*pos)[3],
                                      const double (*vel)[3]);
void nbody_ensemble_free(nbody_ensemble *e);

/* What ends a system or changes its bodies before the end of a run. Both are looked for in each
 * step, or each inner step of NBODY_IAS15. */
struct nbody_ensemble_watch_options {
    /* A system ends when a body is farther from the system's centre of mass; 0: never. */
    double stop_distance;
    /* Radii >= 0, systems x bodies, copied; NULL: no contacts. Bodies touch when their distance is
     * the sum of their radii, on paths that are the polynomials of NBODY_IAS15, or cubics through
     * positions and velocities at both ends of a step. Bodies that overlap at the start touch at
     * time 0. */
    const double *radius;
    /* 0: a system ends at its first contact. 1: bodies that touch merge, conserving mass, momentum
     * and volume; the star stays, else the heavier body, or the first of equal masses. With
     * NBODY_IAS15 both happens at the contact; otherwise at the end of the step. NBODY_WHFAST does
     * not merge bodies. */
    int merge;
    uintptr_t reserved[8]; /* must be 0 */
};

/* Look for distant bodies and contacts from now on. Call it once, before the first step. Without a
 * distance and radii it does nothing. EINVAL: an invalid number, or too late. ENOTSUP: mergers with
 * NBODY_WHFAST, or radii with megno. ENOMEM. ENOEXEC. */
int nbody_ensemble_watch(nbody_ensemble *e, const struct nbody_ensemble_watch_options *options);

enum nbody_system_status {
    NBODY_SYSTEM_RUNS,
    NBODY_SYSTEM_ESCAPE,  /* ended: a body beyond stop_distance */
    NBODY_SYSTEM_CONTACT, /* ended: two bodies touch */
    NBODY_SYSTEM_FAILED   /* its state is NAN: steps of NBODY_IAS15 vanish */
};

/* A system of an ensemble. */
struct nbody_system {
    enum nbody_system_status status;
    size_t bodies;      /* which have not merged into another one */
    double time;        /* of its state: when it ended, else nbody_ensemble_time */
    double energy_lost; /* in mergers */
};

/* Queries of an ensemble take the n systems with the indices which[n], in this order; which NULL:
 * the first n. They copy only these systems to the host, and fail with EINVAL if there is no system
 * of an index, ENOMEM, or ENOEXEC.
 *
 * Describe systems: fill system[n]. */
int nbody_ensemble_systems(nbody_ensemble *e, size_t n, const size_t *which,
                           struct nbody_system *system);

/* An event: bodies `first` and `second` of a system touch; or, if both are equal, this body is
 * beyond stop_distance. After a merger the first body remains. */
struct nbody_system_event {
    size_t system, first, second;
    double time; /* since creation; contacts within steps are interpolated */
};

/* Find the events of n systems so far: *events entries, by system, then by time. The caller calls
 * free(*event); NULL: none. ENOMEM. */
int nbody_ensemble_events(nbody_ensemble *e, size_t n, const size_t *which,
                          struct nbody_system_event **event, size_t *events);

/* Advance all systems by `steps` steps and block until done. ECANCELED if `progress` cancelled. */
int nbody_ensemble_step(nbody_ensemble *e, size_t steps);

/* Set the time step from now on, as nbody_set_dt, e.g. to end at a given time. EINVAL: 0 or not
 * finite. */
int nbody_ensemble_set_dt(nbody_ensemble *e, double dt);

/* Copy positions and velocities to the host, systems x bodies rows each; either may be NULL. A
 * planet whose integration failed is NAN, and so is a body that merged into another one. */
int nbody_ensemble_state(nbody_ensemble *e, double (*pos)[3], double (*vel)[3]);

/* As nbody_ensemble_state, for n systems. Arrays have n x bodies rows; each may be NULL. Masses
 * differ from those at creation after mergers, and by rounding. */
int nbody_ensemble_read(nbody_ensemble *e, size_t n, const size_t *which, double *mass,
                        double (*pos)[3], double (*vel)[3]);

/* Compute energy[systems], the total energies, on the host. Mergers remove energy. */
int nbody_ensemble_energies(nbody_ensemble *e, double *energy);

/* Compute chaos[n], as nbody_find_chaos. EINVAL: without nbody_ensemble_options.megno. */
int nbody_ensemble_find_chaos(nbody_ensemble *e, size_t n, const size_t *which,
                              struct nbody_chaos *chaos);

/* Save and load an ensemble, as nbody_save and nbody_load, on any number of devices. Load into an
 * ensemble created with equal options and masses; it continues with the time step of the saved
 * one. */
size_t nbody_ensemble_save_bytes(const nbody_ensemble *e);
int nbody_ensemble_save(nbody_ensemble *e, void *to);
int nbody_ensemble_load(nbody_ensemble *e, const void *from, size_t size);

/* Return the time, 0 at creation; and the steps done. */
double nbody_ensemble_time(const nbody_ensemble *e);
size_t nbody_ensemble_steps(const nbody_ensemble *e);

/* ---- Initial conditions. --------------------------------------------------------------------- */

/* Models of initial conditions, with G = 1. Models with any n have their centre of mass at rest at
 * the origin, to rounding. */
enum nbody_model {
    /* Plummer sphere in equilibrium, the standard cluster: total mass 1, E = -1/4 and virial radius
     * 1 up to sampling noise (Henon units); Aarseth, Henon & Wielen 1974, A&A 37, 183. */
    NBODY_PLUMMER,
    /* Uniform sphere, 2K = |U| and E = -1/4 up to sampling noise: radius 6/5, total mass 1. */
    NBODY_UNIFORM,
    /* Uniform sphere of radius and total mass 1 at rest; collapses at t = 1.1107. */
    NBODY_COLD,
    /* Two NBODY_GALAXY galaxies on a parabolic encounter. They pass at t = 14, are joined by a
     * bridge and have long tails at t = 20, and merge by t = 45; use eps = 0.05 and dt = 0.025. The
     * first half of the bodies is the first galaxy. */
    NBODY_COLLISION,
    /* Three bodies on the figure eight of Chenciner & Montgomery; period 6.32591398. */
    NBODY_FIGURE8,
    /* Burrau's three bodies, masses 3, 4 and 5 at rest in a right triangle; chaotic. */
    NBODY_PYTHAGOREAN,
    /* Hernquist sphere in equilibrium, isotropic, with its cusp: total mass 1, E = -1/4 and virial
     * radius 1 up to sampling noise (Henon units), without the outermost 1 %; Hernquist 1990, ApJ
     * 356, 359. */
    NBODY_HERNQUIST,
    /* Disk galaxy in equilibrium: an exponential disk of mass and scale length 1 about the z axis
     * with Toomre's Q 1.5, a bulge of mass 1/3 and a dark halo of mass 16/3; McMillan & Dehnen
     * 2007, MNRAS 378, 541, and Hernquist 1993, ApJS 86, 389. The first 45 % of the bodies are
     * disk, the next 15 % bulge, the rest halo. */
    NBODY_GALAXY
};

/* Generate n bodies of a model into mass[n], pos[n], vel[n], multithreaded. One model, n and seed
 * give equal bits on every machine with IEEE arithmetic (counter-based generator, no libm; see
 * nbody/initial/draw.h). EINVAL: n = 0, or the model has a fixed number of bodies
 * (nbody_model_bodies); ENOMEM. */
int nbody_initial(enum nbody_model model, size_t n, uint64_t seed, double *mass, double (*pos)[3],
                  double (*vel)[3]);

/* Collective. Generate a slice of the n bodies: mass[count], pos[count], vel[count] of the bodies
 * first .. first + count - 1, with the bits that nbody_initial gives them. The slices of the ranks
 * of `world` follow one another and together are all n bodies; NULL: first = 0, count = n. A rank
 * draws at most 131,072 bodies beside its own. EINVAL as nbody_initial, and for slices that
 * overlap, leave bodies out or are empty. ENOMEM. */
int nbody_initial_slice(stdcl_world *world, enum nbody_model model, size_t n, uint64_t seed,
                        size_t first, size_t count, double *mass, double (*pos)[3],
                        double (*vel)[3]);

/* Scale bodies with the energies `kinetic` and `potential` (from nbody_diagnose, G = 1) to K = 1/4
 * and U = -1/2: exact Henon units without sampling noise. Bodies at rest stay at rest. potential
 * must be negative. */
void nbody_initial_scale(size_t n, double kinetic, double potential, double (*pos)[3],
                         double (*vel)[3]);

/* Return the model called "plummer", "hernquist", "uniform", "cold", "galaxy", "collision",
 * "figure8" or "pythagorean"; -1 with EINVAL otherwise. */
int nbody_model_by_name(const char *name);

/* Return the number of bodies of a model; 0: any number. */
size_t nbody_model_bodies(enum nbody_model model);

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif /* STDCL_NBODY_H */
