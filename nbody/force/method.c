/* method.c - choice between direct summation and the tree; which options each supports.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/force/methods.h"

#include "core/handle.h"

/* True if bodies choose individual steps by a scheme that only the tree supports. */
static bool uses_rungs(const struct nbody *nb)
{
    return nb->stepping == NBODY_BLOCK && nb->integrator->rungs;
}

/* Return the name of an option that the tree does not support, or NULL. */
static const char *tree_obstacle(const struct nbody *nb)
{
    if (nb->integrator->sum != FORCES)
        return "derivatives of forces";
    if (integrator_is_host_only(nb->integrator))
        return "steps on the host";
    if (nb->precision == NBODY_MIXED)
        return "mixed precision";
    if (nb->particles.own_eps)
        return "per-body softenings";
    if (nb->stepping != NBODY_FIXED && !uses_rungs(nb))
        return "adaptive steps, and block steps only with leapfrog";
    return nb->kernel != NBODY_TUNED ? "baseline kernels" : NULL;
}

/* Write the names of the integrators that need accelerations only. */
static const char *integrators_for_trees(char *text, size_t size)
{
    size_t used = 0;
    const struct integrator *row;
    for (int i = 0; used < size && (row = nbody_integrator_find((enum nbody_integrator)i)); i++)
        if (row->sum == FORCES && !integrator_is_host_only(row))
            used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "",
                                     row->info.name);
    return text;
}

static int refuse_tree(const struct nbody *nb)
{
    char names[128] = "";
    if (integrator_is_host_only(nb->integrator))
        return clerror_set(
            EINVAL,
            "nbody_create: the integrator %s computes on the host, without a tree; use "
            "NBODY_DIRECT",
            nb->integrator->info.name);
    if (nb->precision == NBODY_MIXED)
        return clerror_set(
            EINVAL,
            "nbody_create: the tree has no mixed precision; use NBODY_DOUBLE or NBODY_SINGLE");
    if (nb->particles.own_eps)
        return clerror_set(
            EINVAL,
            "nbody_create: the tree supports one softening for all bodies; use NBODY_DIRECT, or no "
            "per-body softenings");
    if (nb->stepping != NBODY_FIXED && !uses_rungs(nb))
        return clerror_set(
            EINVAL, "nbody_create: the tree supports NBODY_FIXED steps, and NBODY_BLOCK steps with "
                    "NBODY_LEAPFROG; use one of these, or NBODY_DIRECT");
    if (nb->integrator->sum == FORCES)
        return clerror_set(
            EINVAL, "nbody_create: the tree has its own kernels; with NBODY_TREE, use the kernel "
                    "NBODY_TUNED");
    return clerror_set(
        EINVAL,
        "nbody_create: the tree has no derivatives of forces, which the integrator %s needs; use "
        "one of %s",
        nb->integrator->info.name, integrators_for_trees(names, sizeof names));
}

int nbody_stepping_check(const struct nbody *nb)
{
    if (nb->stepping == NBODY_FIXED || nb->integrator->block_steps || uses_rungs(nb) ||
        (nb->stepping == NBODY_ADAPTIVE && !integrator_is_host_only(nb->integrator)))
        return 0;
    if (integrator_is_host_only(nb->integrator))
        return clerror_set(EINVAL,
                           nb->integrator->host_adapts
                               ? "nbody_create: the integrator %s chooses its steps by itself; use "
                                 "NBODY_FIXED"
                               : "nbody_create: the integrator %s needs steps of one length; use "
                                 "NBODY_FIXED",
                           nb->integrator->info.name);
    return clerror_set(
        EINVAL,
        "nbody_create: the integrator %s has no block steps; use NBODY_HERMITE4, or NBODY_LEAPFROG "
        "with NBODY_TREE",
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
            "needs; use NBODY_DOUBLE",
            nb->integrator->info.name);
    return nb->kernel == NBODY_TUNED
               ? 0
               : clerror_set(
                     EINVAL,
                     "nbody_create: the baseline kernels have no mixed precision; use the kernel "
                     "NBODY_TUNED");
}

/* Return the least number of bodies for which the tree is faster, according to rank 0; 0 on
 * failure.
 */
static size_t tree_crossover(const struct nbody *nb)
{
    uint64_t least = nbody_shape_crossover(nb);
    return world_broadcast(nb->world, 0, &least, sizeof least) == 0 ? (size_t)least : 0;
}

static int method_choose(struct nbody *nb, enum nbody_method asked)
{
    const char *why_not = tree_obstacle(nb);
    const size_t least = tree_crossover(nb);
    char *text = nb->method_text;
    const size_t size = sizeof nb->method_text;
    nb->method = asked;
    if (least == 0)
        return -1;
    if (asked == NBODY_TREE && why_not)
        return refuse_tree(nb);
    if (uses_rungs(nb) && (asked == NBODY_DIRECT || why_not))
        return clerror_set(
            EINVAL,
            "nbody_create: the integrator %s has block steps only with the tree; use NBODY_TREE, "
            "or NBODY_HERMITE4",
            nb->integrator->info.name);
    if (uses_rungs(nb) && !(nb->eps > 0))
        return clerror_set(
            EINVAL,
            "nbody_create: block steps with NBODY_LEAPFROG derive from the softening, which is 0; "
            "set eps, or use NBODY_HERMITE4");
    if (asked != NBODY_AUTO) {
        snprintf(text, size,
                 asked == NBODY_TREE ? "method tree, as requested; accuracy %g" : "method direct",
                 nb->accuracy);
        return 0;
    }
    nb->method = (nb->n >= least || uses_rungs(nb)) && !why_not ? NBODY_TREE : NBODY_DIRECT;
    if (why_not)
        snprintf(text, size, "method direct: the tree has no %s", why_not);
    else if (uses_rungs(nb))
        snprintf(text, size, "method tree, accuracy %g: block steps with leapfrog need the tree",
                 nb->accuracy);
    else if (nb->method == NBODY_TREE)
        snprintf(text, size, "method tree, accuracy %g: faster for about %zu bodies or more",
                 nb->accuracy, least);
    else
        snprintf(text, size, "method direct: faster for fewer than about %zu bodies", least);
    return 0;
}

int nbody_method_choose(struct nbody *nb, enum nbody_method asked)
{
    if (method_choose(nb, asked) != 0)
        return -1;
    nb->force.method = nb->method == NBODY_TREE    ? &nbody_method_tree
                       : nb->kernel != NBODY_TUNED ? &nbody_method_baseline
                                                   : &nbody_method_direct;
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
