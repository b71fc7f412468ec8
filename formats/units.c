/* units.c - names of units of length, time and mass, and the constant of gravity in them.
 *
 * Masses are known as G m, which is measured far better than m. G m of the Sun is Gauss's constant
 * squared, in au^3/day^2. The Earth and Jupiter have the nominal values of IAU 2015 Resolution B3,
 * au and pc the values of IAU 2012 B2 and 2015 B2, and kg and g CODATA's G of 2018.
 * SPDX-License-Identifier: MIT
 */
#include "formats/units.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double AU = 149597870700., DAY = 86400, GAUSS = 0.00029591220828559115;

enum unit_kind { UNIT_LENGTH, UNIT_TIME, UNIT_VELOCITY, UNIT_MASS };

/* `value`: metres, seconds, metres per second; for masses G m in m^3/s^2. */
static const struct unit {
    const char *name;
    enum unit_kind kind;
    double value;
} units[] = {
    {"m", UNIT_LENGTH, 1},
    {"km", UNIT_LENGTH, 1e3},
    {"au", UNIT_LENGTH, 149597870700.},
    {"pc", UNIT_LENGTH, 149597870700. * 206264.80624709636},
    {"kpc", UNIT_LENGTH, 149597870700e3 * 206264.80624709636},
    {"Mpc", UNIT_LENGTH, 149597870700e6 * 206264.80624709636},
    {"s", UNIT_TIME, 1},
    {"day", UNIT_TIME, 86400},
    {"yr", UNIT_TIME, 31557600},
    {"kyr", UNIT_TIME, 31557600e3},
    {"Myr", UNIT_TIME, 31557600e6},
    {"Gyr", UNIT_TIME, 31557600e9},
    {"m/s", UNIT_VELOCITY, 1},
    {"km/s", UNIT_VELOCITY, 1e3},
    {"g", UNIT_MASS, 6.67430e-14},
    {"kg", UNIT_MASS, 6.67430e-11},
    {"mearth", UNIT_MASS, 3.986004e14},
    {"mjup", UNIT_MASS, 1.2668653e17},
    {"msun", UNIT_MASS, 0},
};

static const struct unit *find_unit(const char *word, size_t length)
{
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strlen(units[i].name) == length && strncmp(word, units[i].name, length) == 0)
            return &units[i];
    return NULL;
}

/* Names of the units of a kind, "m, km, au". */
static void list_units(enum unit_kind kind, char *text, size_t size)
{
    size_t used = 0;
    *text = 0;
    for (size_t i = 0; i < sizeof units / sizeof *units && used < size; i++)
        if (units[i].kind == kind || (kind == UNIT_TIME && units[i].kind == UNIT_VELOCITY))
            used +=
                (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "", units[i].name);
}

/* G in the units. Ratios to au, day and the Sun's mass are exact for these. */
static double constant_of_gravity(double length, double time, double mass)
{
    const double sun = GAUSS * pow(AU, 3) / pow(DAY, 2);
    return GAUSS * (mass == 0 ? 1 : mass / sun) * pow(time / DAY, 2) / pow(length / AU, 3);
}

bool units_read(const char *text, void *to, char *why, size_t size)
{
    static const enum unit_kind kinds[] = {UNIT_LENGTH, UNIT_TIME, UNIT_MASS};
    static const char *const places[] = {"length", "time or velocity", "mass"};
    const struct unit *unit[3];
    const char *word = text;
    for (int i = 0; i < 3; i++) {
        const size_t length = strcspn(word, ",");
        unit[i] = find_unit(word, length);
        if (!unit[i] || (unit[i]->kind != kinds[i] && (i != 1 || unit[i]->kind != UNIT_VELOCITY))) {
            char list[200];
            list_units(kinds[i], list, sizeof list);
            snprintf(why, size,
                     "'%.*s' is no unit of %s; give LENGTH,TIME,MASS such as au,day,msun, with %s",
                     (int)length, word, places[i], list);
            return false;
        }
        word += length + (i < 2 && word[length] == ',');
    }
    if (*word) {
        snprintf(why, size, "give three units, LENGTH,TIME,MASS, such as au,day,msun");
        return false;
    }
    const bool velocity = unit[1]->kind == UNIT_VELOCITY;
    struct units *u = to;
    snprintf(u->length, sizeof u->length, "%s", unit[0]->name);
    snprintf(u->mass, sizeof u->mass, "%s", unit[2]->name);
    if (velocity)
        snprintf(u->time, sizeof u->time, "%s/(%s)", unit[0]->name, unit[1]->name);
    else
        snprintf(u->time, sizeof u->time, "%s", unit[1]->name);
    u->G = constant_of_gravity(unit[0]->value,
                               velocity ? unit[0]->value / unit[1]->value : unit[1]->value,
                               unit[2]->value);
    return true;
}

void units_label(char *label, size_t size, const char *quantity, const char *unit)
{
    if (unit && *unit)
        snprintf(label, size, "%s [%s]", quantity, unit);
    else
        snprintf(label, size, "%s", quantity);
}

void units_speed(const struct units *u, char *name, size_t size)
{
    const char *const velocity = strchr(u->time, '('); /* length/(velocity) */
    if (velocity)
        snprintf(name, size, "%.*s", (int)strcspn(velocity + 1, ")"), velocity + 1);
    else
        snprintf(name, size, "%s%s%s", u->length, *u->length ? "/" : "", u->time);
}

void units_density(const struct units *u, char *name, size_t size)
{
    *name = 0;
    if (*u->mass)
        snprintf(name, size, "%s/%s^2", u->mass, u->length);
}

void units_mass_density(const struct units *u, char *name, size_t size)
{
    *name = 0;
    if (*u->mass)
        snprintf(name, size, "%s/%s^3", u->mass, u->length);
}

void units_energy(const struct units *u, char *name, size_t size)
{
    const bool compound = strchr(u->time, '/') != NULL;
    *name = 0;
    if (*u->mass && compound) /* length/(velocity): the velocity itself is shorter */
        snprintf(name, size, "%s %s^2", u->mass, strchr(u->time, '('));
    else if (*u->mass)
        snprintf(name, size, "%s %s^2/%s^2", u->mass, u->length, u->time);
}

const char *units_value(char *text, size_t size, double value, const char *unit)
{
    snprintf(text, size, "%.4g%s%s", value, unit && *unit ? " " : "", unit ? unit : "");
    return text;
}
