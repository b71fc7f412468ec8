/* essential.cl - which cells and bodies of a device's part of the tree the walks of another part meet; the host puts root.cl,
 * multipole.cl and walk.cl in front.
 *
 * A cell is looked at by those who open its parent. Nobody knows yet who does: a cell is taken as opened by a part when any of
 * the boxes around its bodies would (parts.cl), with the least that bodies felt there. A box that holds another opens what that
 * opens, in floating point too, so that nothing is missing; walks then decide as they would on one device.
 * SPDX-License-Identifier: MIT
 */
#ifndef BODIES
#define WIDTH 1
#include "walk.cl"
#endif
#define LEVEL_COUNT (LEVELS + 1)
#define TOPS 16 /* as in parts.cl */
#define NONE 0xffffffffu
#define POLES ((int)(sizeof(multipole) / sizeof(real)))
#define NUMBERS (6 + POLES)

static inline real criterion_of(real part)
{
    return MOMENTS == 2 ? C(1) / sqrt(part) : C(1) / cbrt(part);
}

/* box = {lo, least, hi, -}: the last becomes the most that g2 may be of bodies in it (`criterion` in walk.cl). What all mass would
 * cause is least at the nearest place or the farthest. */
kernel void bounds(global real8 *box, uint n, global const real4 *com, global const multipole *poles, real opening,
                   uint geometric, real eps2)
{
    const uint k = get_global_id(0);
    if (k >= n) return;
    const real4 lo = box[k].lo, hi = box[k].hi, all = com[0];
    const real4 near = fmax(fmax(lo - all, all - hi), C(0)), off = fmax(fabs(lo - all), fabs(hi - all));
    const real radius2 = all.w > 0 ? square(&poles[0]) / all.w : C(0);
    const real d2 = near.x * near.x + near.y * near.y + near.z * near.z + radius2, r2 = d2 + eps2;
    const real f2 = off.x * off.x + off.y * off.y + off.z * off.z + radius2, s2 = f2 + eps2;
    const real usual = d2 > 0 ? all.w * fmin(sqrt(d2) / (r2 * sqrt(r2)), sqrt(f2) / (s2 * sqrt(s2))) : C(0);
    const real part = C(0.999) * opening * fmax(lo.w, C(0.15) * usual);
    box[k].s7 = geometric ? C(1.001) / (opening * opening) : C(1.001) * criterion_of(part);
}

static inline bool opened(global const real8 *box, uint n, real4 com, real2 size)
{
    for (uint k = 0; k < n; k++) {
        const real8 own = box[k];
        const struct box b = {own.lo, own.hi, own.s7};
        if (own.s0 <= own.s4 && !far(&b, com, size)) return true;
    }
    return false;
}

/* An item looks at one of the device's cells, or at a bridge. counts[2 part], counts[2 part + 1]: cells and bodies that are
 * essential for a part; with `writes` these are where the next ones go. */
kernel void essential(global const real4 *body, global const int2 *link, global const uint *down, global const real4 *com,
                      global const multipole *poles, global const real2 *size, global const uint2 *span, global const uint4 *heads,
                      uint parts, uint own, global const real8 *box, uint boxes, uint writes, global uint *counts,
                      global uint4 *head, global real *numbers, global real4 *some, global uint *index)
{
    uint id = get_global_id(0), level = 0, k = NONE;
    while (level < LEVELS && id >= span[level].y - span[level].x) id -= span[level].y - span[level].x, level++;
    if (level < LEVELS) k = span[level].x + id;
    else if (id < parts * LEVELS && id / LEVELS != own) {
        level = id % LEVELS;
        k = heads[(id / LEVELS * LEVEL_COUNT + level + 1) * (size_t)TOPS - 1].x;
    }
    if (k == NONE || link[k].y <= 0 || !(com[k].w > 0) || size[k].y == 0) return;
    const uint from = max((uint)link[k].x, span[level + 1].x), end = min((uint)(link[k].x + link[k].y), span[level + 1].y);
    for (uint part = 0; part < parts && from < end; part++) {
        global const real8 *around = box + part * boxes;
        if (part == own || !opened(around, boxes, com[k], size[k])) continue;
        uint at = atomic_add(&counts[2 * part], end - from);
        for (uint c = from; c < end; c++, at++) {
            const int2 child = link[c];
            const bool bodies = child.y < 0 && com[c].w > 0 &&
                                (child.y == -1 || (size[c].y != 0 && opened(around, boxes, com[c], size[c])));
            const uint place = bodies ? atomic_add(&counts[2 * part + 1], -child.y) : 0;
            if (!writes) continue;
            global real *number = numbers + at * (size_t)NUMBERS;
            head[at] = (uint4)(c, as_uint2(child), down[c]);
            vstore4(com[c], 0, number);
            vstore2(size[c], 2, number);
            for (int p = 0; p < POLES; p++) number[6 + p] = ((global const real *)&poles[c])[p];
            for (int b = 0; b < -child.y && bodies; b++) some[place + b] = body[child.x + b], index[place + b] = child.x + b;
        }
    }
}
