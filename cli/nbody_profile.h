/* nbody_profile.h - distributions of bodies at the end of `stdcl nbody`: --plot profile, speeds.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_CLI_NBODY_PROFILE_H
#define STDCL_CLI_NBODY_PROFILE_H

#include <stddef.h>
#include <stdint.h>

struct nbody_job;

/* Check the name of a plot of a distribution before the run: .csv, or a suffix of gnuplot's. Return
 * an exit status, after printing a message. */
int nbody_profile_check(const char *file);

/* Write the distribution of the bodies fetched last, as a table (.csv) or a figure: the mass
 * density by the radius about `centre`, or the fraction of bodies by speed. Return an exit status,
 * after printing a message. */
int nbody_profile_write(const struct nbody_job *job, const double centre[3], const char *file);
int nbody_speeds_write(const struct nbody_job *job, const char *file);

/* Show viewers both distributions of a fair sample of bodies: n of them, by their indices. Radii
 * are about the median of x, of y and of z, which outliers do not move. */
void nbody_profiles_show(const struct nbody_job *job, size_t n, const uint32_t *which,
                         const float (*pos)[3], const float (*vel)[3]);

#endif
