/* tree_cells.c - memory of the tree's cells, and of imports.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/force/tree.h"

static int tree_allocate_cells(struct nbody *nb, struct nbody_device *p, void **block, size_t size,
                               size_t cells)
{
    const size_t bytes = (cells + 1) * size;
    if (!(*block = nbody_device_alloc(nb, p, bytes, CL_MEM_DEVONLY)))
        return -1;
    p->force.tree->cell_bytes += bytes;
    return 0;
}

/* The arrays of cells, by number of the cell. Imported cells are in the first NODE_ARRAYS. */
enum { NODE_ARRAYS = 4, CELL_ARRAYS = 7 };
struct cell_array {
    void **block;
    size_t size; /* bytes of a cell; 0: unused */
};

static void tree_cell_arrays(const struct nbody *nb, struct tree *t,
                             struct cell_array each[CELL_ARRAYS])
{
    const size_t exports = nb->domain.tree ? sizeof(cl_uint) : 0;
    const struct cell_array all[CELL_ARRAYS] = {{&t->link, 2 * sizeof(cl_int)},
                                                {&t->com, 4 * nb->real},
                                                {&t->multipoles, nbody_tree_multipole_bytes(nb)},
                                                {&t->size, 2 * nb->real},
                                                {&t->child_begin, sizeof(cl_uint)},
                                                {&t->mark, exports},
                                                {&t->place, exports}};
    memcpy(each, all, sizeof all);
}

int nbody_tree_grow(struct nbody *nb, struct nbody_device *p, cl_uint capacity)
{
    struct tree *t = p->force.tree;
    struct cell_array each[CELL_ARRAYS];
    tree_cell_arrays(nb, t, each);
    nbody_device_drop_bytes(p, t->cell_bytes);
    t->cell_bytes = 0;
    t->capacity = capacity;
    t->cell_room = (cl_uint)nbody_tree_import_room(nb, capacity);
    for (size_t b = 0; b < CELL_ARRAYS; b++) {
        clfree(*each[b].block);
        *each[b].block = NULL;
        if (each[b].size && tree_allocate_cells(nb, p, each[b].block, each[b].size,
                                                b < NODE_ARRAYS ? t->cell_room : capacity) != 0)
            return -1;
    }
    return 0;
}

/* Make room for imported cells: new arrays with the numbers of the present cells. */
static int tree_reserve_import_cells(struct nbody *nb, struct nbody_device *p, size_t cells)
{
    struct tree *t = p->force.tree;
    const size_t room = t->imports_begin + cells + cells / 4;
    struct cell_array each[CELL_ARRAYS];
    int status = 0;
    if (t->imports_begin + cells <= t->cell_room)
        return 0;
    tree_cell_arrays(nb, t, each);
    t->cell_room = (cl_uint)room;
    for (size_t b = 0; status == 0 && b < NODE_ARRAYS; b++) {
        void *const was = *each[b].block;
        const size_t numbers = t->imports_begin * (each[b].size / nb->real), most = 1u << 30;
        status = tree_allocate_cells(nb, p, each[b].block, each[b].size, room);
        for (size_t at = 0; status == 0 && at < numbers; at += most) {
            const cl_ulong begin = at;
            const cl_uint some = (cl_uint)(numbers - at < most ? numbers - at : most);
            status = nbody_tree_launch_1d(nb, p, TREE_COPY_COLUMN, some,
                                          ARGS(was, begin, some, *each[b].block, begin));
        }
        t->cell_bytes -= clsizeofmem(was);
        nbody_device_drop_bytes(p, clsizeofmem(was));
        clfree(was);
    }
    return status;
}

static int tree_reserve_import_bodies(struct nbody *nb, struct nbody_device *p, size_t bodies)
{
    struct tree *t = p->force.tree;
    const cl_uint used = nbody_tree_imports_begin(t), first = 0;
    const size_t room = used + bodies + bodies / 4;
    if (used + bodies <= t->body_room)
        return 0;
    void *const was = t->body,
                *body = nbody_device_alloc(nb, p, room * 4 * nb->real, CL_MEM_DEVONLY);
    if (!body)
        return -1;
    const int status =
        nbody_tree_launch_1d(nb, p, TREE_STORE_ROWS, used, ARGS(was, used, body, first));
    t->body = t->target.body = p->force.phi = body;
    t->body_room = room;
    nbody_device_drop_bytes(p, clsizeofmem(was));
    clfree(was);
    return status;
}

int nbody_tree_reserve_imports(struct nbody *nb, struct nbody_device *p, size_t cells,
                               size_t bodies)
{
    return tree_reserve_import_cells(nb, p, cells) == 0 ? tree_reserve_import_bodies(nb, p, bodies)
                                                        : -1;
}
