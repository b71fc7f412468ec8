-- energy.lua - the mean kinetic energy of a gas, by random numbers and a parallel sum.
--
--   stdcl run energy.lua              a million molecules, with temperature and mass 1: nearly 3/2
--   stdcl run energy.lua 100000
--
-- Every velocity has three normal components: the mean energy of N molecules is 3/2 within sqrt(3 / (2 N)).
-- SPDX-License-Identifier: MIT

local cl = require "opencl"
local ffi = require "ffi"
local random = require "random"
local templet = require "templet"

local N = tonumber(arg[1] or 1000000)
assert(N and N >= 2 and N % 2 == 0, "the number of molecules must be even, and 2 at least")
local work_size, num_groups = 128, 512
local global_size = work_size * num_groups

local platform = assert(cl.get_platforms()[1], "no OpenCL platform; install a driver, such as pocl-opencl-icd")
local device = platform:get_devices()[1]
local context = cl.create_context{device}
local queue = context:create_command_queue(device)

-- Velocities, in memory shared with the device.
local velocities = context:create_buffer("read_only", N * ffi.sizeof "cl_double3")
local v = ffi.cast("cl_double3 *", queue:enqueue_map_buffer(velocities, true, "write"))
for i = 0, N - 1, 2 do
  v[i].x, v[i + 1].x = random.normal()
  v[i].y, v[i + 1].y = random.normal()
  v[i].z, v[i + 1].z = random.normal()
end
queue:enqueue_unmap_mem_object(velocities, v)

-- Work-items stride over the molecules; then each group reduces its sums as a tree.
local source = templet.loadstring [[
kernel void sum(global const double3 *velocity, global double *partial)
{
    local double sums[${work_size}];
    const int me = get_local_id(0);
    double mine = 0;
    for (long i = get_global_id(0); i < ${N}; i += ${global_size})
        mine += dot(velocity[i], velocity[i]);
    sums[me] = mine;
    barrier(CLK_LOCAL_MEM_FENCE);
    |local half = work_size / 2
    |while half >= 1 do
    if (me < ${half})
        sums[me] += sums[me + ${half}];
    barrier(CLK_LOCAL_MEM_FENCE);
    |half = half / 2
    |end
    if (me == 0)
        partial[get_group_id(0)] = sums[0];
}
]]
local program = context:create_program_with_source(source{N = N, work_size = work_size, global_size = global_size})
program:build()
local kernel = program:create_kernel "sum"

local partials = context:create_buffer("write_only", num_groups * ffi.sizeof "cl_double")
kernel:set_arg(0, velocities)
kernel:set_arg(1, partials)
queue:enqueue_ndrange_kernel(kernel, nil, {global_size}, {work_size})

local sum = 0
local partial = ffi.cast("cl_double *", queue:enqueue_map_buffer(partials, true, "read"))
for i = 0, num_groups - 1 do
  sum = sum + partial[i]
end
queue:enqueue_unmap_mem_object(partials, partial)
print(0.5 * sum / N)
