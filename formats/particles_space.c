/* particles_space.c - is the space of a snapshot static and unbounded?
 *
 * Cosmological codes write comoving coordinates, and periodic boxes, where bodies attract their
 * images. A flag of the header decides, where there is one. Density parameters alone do not: files
 * of isolated galaxies have them, too. In a cosmological run the time is the scale factor, 1 / (1 +
 * redshift).
 * SPDX-License-Identifier: MIT
 */
#include "formats/particles_format.h"
#include "stdcl.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static const double SCALE_FACTOR_ERROR = 1e-3; /* of a time against 1 / (1 + redshift) */

static int explain_space(struct particles *p, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static int explain_space(struct particles *p, const char *format, ...)
{
    char text[300];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    free(p->space);
    p->space = strdup(text);
    return p->space ? 0 : clerror_set(ENOMEM, "out of memory for a sentence");
}

/* True if the time may be a scale factor. */
static bool may_be_scale_factor(double time, double redshift)
{
    return time > 0 && (isnan(redshift) || fabs(time * (1 + redshift) - 1) <= SCALE_FACTOR_ERROR);
}

int particles_set_space(struct particles *p, const struct particles_space *s)
{
    const bool expands = s->comoving > 0 || (isnan(s->comoving) && s->omega > 0);
    const bool guess = isnan(s->comoving) && isnan(s->redshift);
    p->scale = expands && !guess && may_be_scale_factor(p->time, s->redshift);
    if (s->comoving > 0)
        return explain_space(p, "is of a cosmological run (%s is %g): its coordinates expand",
                             s->comoving_name, s->comoving);
    if (isnan(s->comoving) && s->omega > 0 && may_be_scale_factor(p->time, s->redshift))
        return explain_space(
            p,
            "may be of a cosmological run (%s is %g, and its time, %g, may be a scale factor), whose "
            "coordinates expand",
            s->omega_name, s->omega, p->time);
    if (s->periodic > 0)
        return explain_space(p,
                             "is of a periodic box (%s) with a side of %g: its bodies attract "
                             "their images",
                             s->periodic_name, s->box[0]);
    if (isnan(s->periodic))
        memcpy(p->box, s->box, sizeof p->box);
    return 0;
}

bool particles_leave_box(const struct particles *p)
{
    bool inside = true;
    for (size_t i = 0; i < p->n && inside; i++)
        for (int k = 0; k < 3; k++)
            inside &= p->pos[i][k] >= 0 && p->pos[i][k] <= p->box[k];
    return !inside;
}

int particles_check_box(struct particles *p, bool outside)
{
    const bool inside = !outside && p->box[0] > 0 && p->box[1] > 0 && p->box[2] > 0 && !p->space;
    return inside ? explain_space(p,
                                  "may be of a periodic box: all bodies lie in the box of its "
                                  "header, with a side of %g",
                                  p->box[0])
                  : 0;
}
