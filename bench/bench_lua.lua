-- bench_lua.lua - microseconds per call from Lua, one line each; bench_lua.c is the C counterpart.
-- SPDX-License-Identifier: MIT
local cl, ffi, stdcl = require "opencl", require "ffi", require "stdcl"
ffi.cdef "struct bench_time { long s, ns; }; int clock_gettime(int, struct bench_time *);"

local N = tonumber(arg[1])
local now = ffi.new "struct bench_time"
local function seconds()
  ffi.C.clock_gettime(1, now)
  return tonumber(now.s) + 1e-9 * tonumber(now.ns)
end

-- Seconds per call of N calls, after N calls to warm up.
local function measure(name, call, finish)
  local start
  for round = 1, 2 do
    start = seconds()
    for _ = 1, N do call() end
    finish()
  end
  print(name, (seconds() - start) / N * 1e6)
end

local SOURCE = "kernel void touch(global float *x, float y) { x[get_global_id(0)] = y; }"
local device = cl.get_platforms()[1]:get_devices()[1] -- as bench_lua.c
stdcl.use(device:get_info "name")
local context = cl.create_context{device}
local queue = context:create_command_queue(device)
local program = context:create_program_with_source(SOURCE)
program:build()
local kernel, buffer = program:create_kernel "touch", context:create_buffer(4096)
local function finish() queue:finish() end

kernel:set_arg(1, ffi.new("cl_float[1]", 2))
measure("launch", function()
  kernel:set_arg(0, buffer)
  queue:enqueue_ndrange_kernel(kernel, nil, {1}, {1})
end, finish)
measure("map", function()
  local p = queue:enqueue_map_buffer(buffer, true, "read", 0, 4096)
  queue:enqueue_unmap_mem_object(buffer, p)
end, finish)

local x = stdcl.malloc("float", 1024)
local touch = stdcl.open(SOURCE).touch
measure("fork", function() touch(1, 1, x, 2) end, stdcl.wait)
measure("sync", function() stdcl.sync(x, "device") end, stdcl.wait)
