/* law_table.c - names and parameters of built-in forces; texts of forces, such as "nfw:M=1,a=2" and
 * "drag.cl:gamma=0.1".
 *
 * The parameters of a file are macros around its text: `gamma` is a number there.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/force/added.h"

#include "nbody/force/laws.cl"

#include <ctype.h>
#include <stdlib.h>

/* Units of a parameter, and which numbers it may be. */
enum unit { NONE, MASS, LENGTH, SPEED, TIME, BODY };
enum range { ANY, POSITIVE, NOT_NEGATIVE };

static const struct law_kind {
    const char *name;
    bool of_source, of_velocity;
    struct {
        const char *key;
        enum unit unit;
        enum range range;
        double usual; /* NAN: must be given */
    } number[LAW_PARAMETERS];
} kinds[LAW_FILE] = {
    [LAW_NFW] = {"nfw", false, false, {{"M", MASS, POSITIVE, NAN}, {"a", LENGTH, POSITIVE, NAN}}},
    [LAW_MIYAMOTO_NAGAI] = {"miyamoto-nagai",
                            false,
                            false,
                            {{"M", MASS, POSITIVE, NAN},
                             {"a", LENGTH, NOT_NEGATIVE, NAN},
                             {"b", LENGTH, POSITIVE, NAN}}},
    [LAW_LOGARITHMIC] = {"logarithmic",
                         false,
                         false,
                         {{"v", SPEED, POSITIVE, NAN},
                          {"r", LENGTH, POSITIVE, NAN},
                          {"q", NONE, POSITIVE, 1}}},
    [LAW_POINT] = {"point",
                   false,
                   false,
                   {{"M", MASS, POSITIVE, NAN},
                    {"eps", LENGTH, NOT_NEGATIVE, 0},
                    {"x", LENGTH, ANY, 0},
                    {"y", LENGTH, ANY, 0},
                    {"z", LENGTH, ANY, 0},
                    {"vx", SPEED, ANY, 0},
                    {"vy", SPEED, ANY, 0},
                    {"vz", SPEED, ANY, 0}}},
    [LAW_ORBIT] = {"orbit",
                   false,
                   false,
                   {{"M", MASS, POSITIVE, NAN},
                    {"eps", LENGTH, NOT_NEGATIVE, 0},
                    {"centre", MASS, POSITIVE, NAN},
                    {"a", LENGTH, POSITIVE, NAN},
                    {"e", NONE, NOT_NEGATIVE, 0},
                    {"inc", NONE, ANY, 0},
                    {"Omega", NONE, ANY, 0},
                    {"omega", NONE, ANY, 0},
                    {"l", NONE, ANY, 0}}},
    [LAW_RELATIVITY] = {"relativity",
                        true,
                        false,
                        {{"body", BODY, NOT_NEGATIVE, 0}, {"c", SPEED, POSITIVE, NAN}}},
    [LAW_OBLATE] = {"oblate",
                    true,
                    false,
                    {{"body", BODY, NOT_NEGATIVE, 0},
                     {"R", LENGTH, POSITIVE, NAN},
                     {"J2", NONE, ANY, NAN},
                     {"J4", NONE, ANY, 0},
                     {"nx", NONE, ANY, 0},
                     {"ny", NONE, ANY, 0},
                     {"nz", NONE, ANY, 1}}},
    [LAW_MASS_LOSS] = {"mass-loss",
                       true,
                       false,
                       {{"body", BODY, NOT_NEGATIVE, 0}, {"tau", TIME, POSITIVE, NAN}}},
    [LAW_RADIATION] = {"radiation",
                       true,
                       true,
                       {{"body", BODY, NOT_NEGATIVE, 0},
                        {"beta", NONE, POSITIVE, NAN},
                        {"c", SPEED, POSITIVE, INFINITY},
                        {"first", BODY, NOT_NEGATIVE, 1},
                        {"last", BODY, NOT_NEGATIVE, INFINITY}}},
    [LAW_NEWHALL] = {"relativity-pairs", false, true, {{"c", SPEED, POSITIVE, NAN}}},
};

/* ---- Numbers of a law. ----------------------------------------------------------------------- */

static int law_number_check(const struct law_kind *kind, int k, double value)
{
    const enum range range = kind->number[k].range;
    const bool whole = kind->number[k].unit != BODY || value == floor(value);
    if (range == ANY ? isfinite(value) : range == POSITIVE ? value > 0 : value >= 0 && whole)
        return 0;
    return clerror_set(EINVAL, "nbody_create: force %s: %s is %g; it must be %s", kind->name,
                       kind->number[k].key, value,
                       kind->number[k].unit == BODY ? "the number of a body, from 0 on"
                       : range == ANY               ? "a finite number"
                       : range == POSITIVE          ? "a number > 0"
                                                    : "a number >= 0");
}

static int law_set_number(struct added_force *force, const char *key, size_t length, double value)
{
    const struct law_kind *const kind = &kinds[force->law];
    char all[160] = "";
    size_t used = 0;
    for (int k = 0; k < LAW_PARAMETERS && kind->number[k].key; k++) {
        if (strlen(kind->number[k].key) == length && !memcmp(key, kind->number[k].key, length)) {
            force->given[k] = value;
            return law_number_check(kind, k, value);
        }
        used += (size_t)snprintf(all + used, sizeof all - used, "%s%s", used ? ", " : "",
                                 kind->number[k].key);
    }
    return clerror_set(EINVAL, "nbody_create: force %s has no parameter %.*s; it has %s",
                       kind->name, (int)length, key, all);
}

static int law_check_missing(const struct added_force *force)
{
    const struct law_kind *const kind = &kinds[force->law];
    for (int k = 0; k < LAW_PARAMETERS && kind->number[k].key; k++)
        if (isnan(force->given[k]))
            return clerror_set(EINVAL, "nbody_create: force %s needs the parameter %s=NUMBER",
                               kind->name, kind->number[k].key);
    if (force->law == LAW_ORBIT && force->given[4] >= 1)
        return clerror_set(EINVAL, "nbody_create: force orbit: e is %g; it must be below 1",
                           force->given[4]);
    if (force->law == LAW_OBLATE &&
        !(hypot(hypot(force->given[4], force->given[5]), force->given[6]) > 0))
        return clerror_set(EINVAL, "nbody_create: force oblate: the axis nx, ny, nz is 0");
    return 0;
}

/* ---- Files. ---------------------------------------------------------------------------------- */

static bool file_is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* True if the text contains a name as a whole word. */
static bool file_mentions(const char *text, const char *name, size_t length)
{
    for (const char *at = text; *at; at++)
        if (strncmp(at, name, length) == 0 && (at == text || !file_is_word(at[-1])) &&
            !file_is_word(at[length]))
            return true;
    return false;
}

/* Read a file as a string from malloc; NULL on error. */
static char *file_read(const char *path)
{
    enum { MOST = 1 << 20 };
    FILE *const fp = fopen(path, "rb");
    char *const text = fp ? calloc(1, MOST + 1) : NULL;
    const size_t size = text ? fread(text, 1, MOST + 1, fp) : 0;
    const bool whole = fp && text && !ferror(fp) && size <= MOST && !memchr(text, 0, size);
    const int reason = errno;
    if (!fp)
        clerror_set(ENOENT, "nbody_create: force %s: %s", path, strerror(reason));
    else if (!whole)
        clerror_set(EINVAL, "nbody_create: force %s is no text of at most 1 MiB", path);
    if (fp)
        fclose(fp);
    if (whole)
        return text;
    free(text);
    return NULL;
}

static int file_open(struct added_force *force, const char *path, size_t length)
{
    force->law = LAW_FILE;
    force->of_velocity = true;
    force->file = strndup(path, length);
    force->name = force->file;
    force->before = strdup("");
    force->after = strdup("");
    if (!force->file || !force->before || !force->after)
        return clerror_set(ENOMEM, "nbody_create: out of memory on the host");
    force->text = file_read(force->file);
    if (!force->text)
        return -1;
    if (!file_mentions(force->text, "force", strlen("force")))
        return clerror_set(
            EINVAL,
            "nbody_create: %s does not define the function `real3 force(real3 position, "
            "real3 velocity, real mass, real time, uint index)`",
            force->file);
    force->of_velocity = !file_mentions(force->text, "FORCE_OF_POSITION", 17);
    return 0;
}

/* Append a line to a string from malloc. */
static int file_append(char **to, const char *line)
{
    const size_t used = strlen(*to);
    char *const all = realloc(*to, used + strlen(line) + 1);
    if (!all)
        return clerror_set(ENOMEM, "nbody_create: out of memory on the host");
    memcpy(all + used, line, strlen(line) + 1);
    *to = all;
    return 0;
}

static int file_set_number(struct added_force *force, const char *key, size_t length, double value)
{
    char line[160], after[160];
    if (length > 60 || isdigit((unsigned char)*key))
        return clerror_set(EINVAL, "nbody_create: force %s: %.*s is no name of a parameter",
                           force->file, (int)length, key);
    if (!file_mentions(force->text, key, length))
        return clerror_set(EINVAL, "nbody_create: force %s does not use a parameter %.*s",
                           force->file, (int)length, key);
    if (!isfinite(value))
        return clerror_set(EINVAL, "nbody_create: force %s: %.*s is %g; it must be a finite number",
                           force->file, (int)length, key, value);
    snprintf(line, sizeof line, "#define %.*s C(%.17g)\n", (int)length, key, value);
    snprintf(after, sizeof after, "#undef %.*s\n", (int)length, key);
    return file_append(&force->before, line) == 0 ? file_append(&force->after, after) : -1;
}

/* ---- Texts. ---------------------------------------------------------------------------------- */

/* Parse KEY=NUMBER,... up to `end`. */
static int law_parse_numbers(struct added_force *force, const char *at, const char *end)
{
    while (at < end) {
        const char *const equal = memchr(at, '=', (size_t)(end - at));
        size_t length = 0;
        while (at + length < end && file_is_word(at[length]))
            length++;
        char *stop = NULL;
        const double value = equal ? strtod(equal + 1, &stop) : 0;
        if (!equal || length == 0 || at + length != equal || stop == equal + 1 ||
            (stop != end && *stop != ','))
            return clerror_set(EINVAL,
                               "nbody_create: force %s: '%.*s' is not KEY=NUMBER,KEY=NUMBER",
                               force->name, (int)(end - at), at);
        if ((force->file ? file_set_number : law_set_number)(force, at, length, value) != 0)
            return -1;
        at = stop == end ? end : stop + 1;
    }
    return force->file ? 0 : law_check_missing(force);
}

static int law_unknown(const char *text, size_t length)
{
    char all[256] = "";
    size_t used = 0;
    for (int k = 0; k < LAW_FILE; k++)
        used += (size_t)snprintf(all + used, sizeof all - used, "%s, ", kinds[k].name);
    return clerror_set(EINVAL, "nbody_create: there is no force '%.*s'; there are %sand files *.cl",
                       (int)length, text, all);
}

/* Return the end of a force's name; *is_file: it is a path, which may contain colons. */
static const char *law_name_end(const char *text, const char *end, bool *is_file)
{
    for (const char *dot = text + 1; dot + 3 <= end; dot++)
        if (memcmp(dot, ".cl", 3) == 0 && (dot + 3 == end || dot[3] == ':')) {
            *is_file = true;
            return dot + 3;
        }
    *is_file = false;
    while (text < end && *text != ':')
        text++;
    return text;
}

/* Parse a law or a file; length: characters of its name. */
static int law_parse_one(const char *text, size_t length, const char *end, bool is_file,
                         struct added_force *force)
{
    const char *const numbers = text + length < end ? text + length + 1 : end;
    if (is_file)
        return file_open(force, text, length) != 0 ? -1 : law_parse_numbers(force, numbers, end);
    for (int k = 0; k < LAW_FILE; k++)
        if (strlen(kinds[k].name) == length && memcmp(text, kinds[k].name, length) == 0) {
            *force = (struct added_force){.law = k,
                                          .name = kinds[k].name,
                                          .of_source = kinds[k].of_source,
                                          .of_velocity = kinds[k].of_velocity};
            for (int i = 0; i < LAW_PARAMETERS; i++)
                force->given[i] = kinds[k].number[i].usual;
            return law_parse_numbers(force, numbers, end);
        }
    return law_unknown(text, length);
}

/* Parse the laws of a text, or its files. */
static int law_parse_lines(const char *text, bool files, struct added_force *force, size_t *n)
{
    for (text += strspn(text, "\n"); *text; text += strspn(text, "\n")) {
        bool is_file;
        const char *const end = text + strcspn(text, "\n"), *const name =
                                                                law_name_end(text, end, &is_file);
        if (*n == LAW_MOST)
            return clerror_set(EINVAL, "nbody_create: more than %d forces", LAW_MOST);
        if (is_file == files &&
            law_parse_one(text, (size_t)(name - text), end, is_file, &force[(*n)++]) != 0)
            return -1;
        text = end;
    }
    return 0;
}

int law_parse(const char *text, struct added_force force[LAW_MOST], size_t *n)
{
    *n = 0;
    return law_parse_lines(text, false, force, n) == 0 ? law_parse_lines(text, true, force, n) : -1;
}

void law_free(struct added_force *force, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        free(force[k].file);
        free(force[k].text);
        free(force[k].before);
        free(force[k].after);
    }
}

/* ---- Engine units. --------------------------------------------------------------------------- */

/* Pack an orbit: mean motion, anomaly, e and the two half axes (laws.cl). */
static void law_convert_orbit(const struct nbody *nb, const struct added_force *force, double *p)
{
    const double *const g = force->given, gm = nb->G * (g[2] + g[0]), b = sqrt(1 - g[4] * g[4]),
                        length = nbody_units_factor(&nb->units, -1, 0);
    double axis[2][3], v[3];
    struct nbody_elements orbit = {
        .semi_major = 1, .inclination = g[5], .node = g[6], .pericentre = g[7]};
    (void)nbody_orbit_state(1, &orbit, axis[0], v);
    orbit.mean_anomaly = acos(-1) / 2; /* on a circle at right angles */
    (void)nbody_orbit_state(1, &orbit, axis[1], v);
    p[3] = sqrt(gm / g[3]) / g[3] / nbody_units_factor(&nb->units, 0, -1);
    p[4] = g[8];
    p[5] = g[4];
    for (int c = 0; c < 3; c++) {
        p[6 + c] = g[3] * length * axis[0][c];
        p[9 + c] = g[3] * length * b * axis[1][c];
    }
}

static void law_convert_axis(double axis[3])
{
    const double size = hypot(hypot(axis[0], axis[1]), axis[2]);
    for (int c = 0; c < 3; c++)
        axis[c] /= size;
}

void law_convert(const struct nbody *nb, const struct added_force *force, double p[16])
{
    const double factor[] = {[NONE] = 1,
                             [BODY] = 1,
                             [MASS] = nb->G * nbody_units_factor(&nb->units, -3, 2),
                             [LENGTH] = nbody_units_factor(&nb->units, -1, 0),
                             [SPEED] = nbody_units_factor(&nb->units, -1, 1),
                             [TIME] = nbody_units_factor(&nb->units, 0, -1)};
    const double eps = nb->eps * factor[LENGTH];
    memset(p, 0, 16 * sizeof *p);
    p[0] = force->law;
    for (int k = 0; force->law != LAW_FILE && kinds[force->law].number[k].key; k++)
        p[k + 1] = force->given[k] * factor[kinds[force->law].number[k].unit];
    if (force->law == LAW_ORBIT)
        law_convert_orbit(nb, force, p);
    if (force->law == LAW_OBLATE)
        law_convert_axis(p + 5);
    if (force->law == LAW_MASS_LOSS) {
        p[2] = 1 / p[2];
        p[3] = eps * eps;
    }
    if (force->law == LAW_RADIATION) {
        p[3] = 1 / p[3];
        p[5] = fmin(p[5], (double)nb->n);
    }
}

struct nbody_field law_field(const struct added_force *force)
{
    if (force->law == LAW_LOGARITHMIC)
        return (struct nbody_field){NBODY_FIELD_LOGARITHMIC, force->given[0], 1};
    const bool has_mass = force->law <= LAW_ORBIT;
    return (struct nbody_field){NBODY_FIELD_POINT, has_mass ? force->given[0] : 0, 0};
}
