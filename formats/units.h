/* units.h - names of units of length, time and mass, and the constant of gravity in them.
 * SPDX-License-Identifier: MIT
 */
#ifndef FORMATS_UNITS_H
#define FORMATS_UNITS_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { UNIT_NAME = 24 };

/* Units of a run. Names are empty if units are not known: numbers then stand alone. */
struct units {
    char length[UNIT_NAME], mass[UNIT_NAME];
    char time[UNIT_NAME]; /* "day"; "pc/(km/s)" if a unit of velocity was given */
    double G;             /* in length^3 / (mass time^2); 0: unknown */
};

/* Read "LENGTH,TIME,MASS" such as "au,day,msun" into `to`, a struct units. In the place of the time
 * may stand a unit of velocity: "pc,km/s,msun". False with a reason in `why`, of `size` bytes. */
bool units_read(const char *text, void *to, char *why, size_t size);

/* The label of an axis: "x [au]", or "x" if the unit is NULL or empty. */
void units_label(char *label, size_t size, const char *quantity, const char *unit);

/* The units of speed, "au/day" or "km/s", of mass per area, "msun/au^2", of mass per volume,
 * "msun/au^3", and of energy, "msun au^2/day^2"; empty if unknown. */
void units_speed(const struct units *units, char *name, size_t size);
void units_density(const struct units *units, char *name, size_t size);
void units_mass_density(const struct units *units, char *name, size_t size);
void units_energy(const struct units *units, char *name, size_t size);

/* "12.5 day": a number with a unit; the number alone if the unit is empty. Return `text`. */
const char *units_value(char *text, size_t size, double value, const char *unit);

#ifdef __cplusplus
}
#endif
#endif
