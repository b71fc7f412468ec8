/* method.c - whether forces are summed directly or by the tree, and what goes with which.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/integrate.h"

#include "core/handle.h"

/* Whether bodies choose steps by what only the tree goes with. */
static bool by_rungs(const struct nbody *nb)
{
    return nb->stepping == NBODY_BLOCK && nb->integrator->rungs;
}

/* What the tree cannot do: NULL, or a word for it. */
static const char *obstacle(const struct nbody *nb)
{
    if (nb->integrator->sum != FORCES)
        return "derivatives of forces";
    if (nb->integrator->host)
        return "steps on the host";
    if (nb->precision == NBODY_MIXED)
        return "mixed precision";
    if (nb->own_eps)
        return "softenings of single bodies";
    if (nb->stepping != NBODY_FIXED && !by_rungs(nb))
        return "steps other than fixed ones and those that leapfrog's bodies choose";
    return nb->kernel != NBODY_TUNED ? "kernels of the ladder" : NULL;
}

/* The names of the integrators that need accelerations alone. */
static const char *integrators_for_trees(char *text, size_t size)
{
    size_t used = 0;
    const struct integrator *row;
    for (int i = 0; used < size && (row = nbody_integrate_row((enum nbody_integrator)i)); i++)
        if (row->sum == FORCES && !row->host)
            used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "",
                                     row->info.name);
    return text;
}

static int refuse(const struct nbody *nb)
{
    char names[128] = "";
    if (nb->integrator->host)
        return clerror_set(
            EINVAL,
            "nbody_create: the integrator %s computes on the host, without a tree; take NBODY_DIRECT",
            nb->integrator->info.name);
    if (nb->precision == NBODY_MIXED)
        return clerror_set(
            EINVAL,
            "nbody_create: the tree has no mixed precision; take NBODY_DOUBLE or NBODY_SINGLE");
    if (nb->own_eps)
        return clerror_set(
            EINVAL,
            "nbody_create: the tree has one softening for all bodies; take NBODY_DIRECT, or no softenings of "
            "single bodies");
    if (nb->stepping != NBODY_FIXED && !by_rungs(nb))
        return clerror_set(
            EINVAL,
            "nbody_create: with the tree steps are fixed, or with NBODY_LEAPFROG those of NBODY_BLOCK; take "
            "NBODY_FIXED or NBODY_DIRECT");
    if (nb->integrator->sum == FORCES)
        return clerror_set(
            EINVAL,
            "nbody_create: the tree has kernels of its own; with NBODY_TREE the kernel must be "
            "NBODY_TUNED");
    return clerror_set(
        EINVAL,
        "nbody_create: the tree has no derivatives of forces, which the integrator %s needs; "
        "integrators without them are %s",
        nb->integrator->info.name, integrators_for_trees(names, sizeof names));
}

int nbody_stepping_check(const struct nbody *nb)
{
    if (nb->stepping == NBODY_FIXED || nb->integrator->block_steps || by_rungs(nb) ||
        (nb->stepping == NBODY_ADAPTIVE && !nb->integrator->host))
        return 0;
    if (nb->integrator->host)
        return clerror_set(
            EINVAL, "nbody_create: the integrator %s chooses its steps by itself; take NBODY_FIXED",
            nb->integrator->info.name);
    return clerror_set(
        EINVAL,
        "nbody_create: the integrator %s has no block steps; NBODY_HERMITE4 has, and NBODY_LEAPFROG with NBODY_TREE",
        nb->integrator->info.name);
}

int nbody_mixed_check(const struct nbody *nb)
{
    if (nb->precision != NBODY_MIXED)
        return 0;
    if (nb->integrator->sum != FORCES)
        return clerror_set(
            EINVAL,
            "nbody_create: mixed precision has no derivatives of forces, which the integrator %s "
            "needs; take NBODY_DOUBLE",
            nb->integrator->info.name);
    return nb->kernel == NBODY_TUNED
               ? 0
               : clerror_set(EINVAL, "nbody_create: the kernels of the ladder have no mixed "
                                     "precision; the kernel must be NBODY_TUNED");
}

/* From how many bodies on the tree is faster: rank 0 says. */
static size_t crossover(const struct nbody *nb)
{
    uint64_t least = nbody_shape_crossover(nb);
    return world_broadcast(nb->world, 0, &least, sizeof least) == 0 ? (size_t)least : 0;
}

int nbody_method_choose(struct nbody *nb, enum nbody_method asked)
{
    const char *why_not = obstacle(nb);
    const size_t least = crossover(nb);
    char *text = nb->method_text;
    const size_t size = sizeof nb->method_text;
    nb->method = asked;
    if (least == 0)
        return -1;
    if (asked == NBODY_TREE && why_not)
        return refuse(nb);
    if (by_rungs(nb) && (asked == NBODY_DIRECT || why_not))
        return clerror_set(
            EINVAL,
            "nbody_create: the integrator %s has block steps with the tree alone; take NBODY_TREE, or NBODY_HERMITE4",
            nb->integrator->info.name);
    if (by_rungs(nb) && !(nb->eps > 0))
        return clerror_set(
            EINVAL,
            "nbody_create: steps that leapfrog's bodies choose are measured by the softening, which is 0 here; give "
            "one, or take NBODY_HERMITE4");
    if (asked != NBODY_AUTO) {
        snprintf(text, size,
                 asked == NBODY_TREE ? "method tree, as asked for; accuracy %g" : "method direct",
                 nb->accuracy);
        return 0;
    }
    nb->method = (nb->n >= least || by_rungs(nb)) && !why_not ? NBODY_TREE : NBODY_DIRECT;
    if (why_not)
        snprintf(text, size, "method direct: the tree has no %s", why_not);
    else if (by_rungs(nb))
        snprintf(text, size,
                 "method tree, accuracy %g: steps that leapfrog's bodies choose go with it alone",
                 nb->accuracy);
    else if (nb->method == NBODY_TREE)
        snprintf(text, size, "method tree, accuracy %g: faster from about %zu bodies on",
                 nb->accuracy, least);
    else
        snprintf(text, size, "method direct: faster up to about %zu bodies", least);
    return 0;
}

const char *nbody_explain_method(const nbody *nb)
{
    if (no_handle(nb, __func__))
        return "";
    return nb->method_text;
}

enum nbody_method nbody_method(const nbody *nb)
{
    if (no_handle(nb, __func__))
        return 0;
    return nb->method;
}
