-- test_lua_collect.lua - objects of the module opencl are collected in any order, at any time, and
-- never while in use.
-- Run by `stdcl run` and by luajit; under PoCL a buffer freed too early is freed memory of this process.
-- SPDX-License-Identifier: MIT
package.path = arg[0]:match "^(.-)[^/]*$" .. "?.lua;" .. package.path
local check = require "test_lua_check"
local cl, ffi = require "opencl", require "ffi"
local test, equal = check.test, check.equal

local device = check.first_device()
local SOURCE = "kernel void add(global uint *x, uint y) { x[get_global_id(0)] += y; }"

local function collect()
  collectgarbage()
  collectgarbage()
end

local function all()
  local o = {context = cl.create_context{device}}
  o.queue = o.context:create_command_queue(device)
  o.buffer = o.context:create_buffer(4096)
  o.part = o.buffer:create_sub_buffer("region", {0, 1024})
  o.program = o.context:create_program_with_source(SOURCE)
  o.program:build()
  o.kernel = o.program:create_kernel "add"
  o.kernel:set_arg(0, o.buffer)
  o.kernel:set_arg(1, ffi.new("cl_uint[1]", 1))
  o.event = o.queue:enqueue_ndrange_kernel(o.kernel, nil, {1024})
  return o
end

test("released in every order", function()
  local names = {"context", "queue", "buffer", "part", "program", "kernel", "event"}
  math.randomseed(1)
  for round = 1, 20 do
    local o = all()
    for i = #names, 2, -1 do
      local j = math.random(i)
      names[i], names[j] = names[j], names[i]
    end
    for i, name in ipairs(names) do
      o[name] = nil
      if (i + round) % 2 == 0 then collect() end
    end
    collect()
  end
end)

test("references are given back", function()
  local o = all()
  o.queue:finish()
  collect()
  local before = o.context:get_info "reference_count"
  for _ = 1, 50 do
    equal(o.queue:get_info "context", o.context)
    equal(o.kernel:get_info("program"):get_info "context", o.context)
    equal(o.part:get_info("associated_memobject"), o.buffer)
    o.context:create_buffer(16)
  end
  collect()
  equal(o.context:get_info "reference_count", before)
  local kernels = o.program:get_info "reference_count"
  for _ = 1, 50 do o.program:create_kernel "add" end
  collect()
  equal(o.program:get_info "reference_count", kernels)
end)

test("a kernel keeps its buffers", function()
  local o = all()
  for round = 1, 20 do
    o.kernel:set_arg(0, o.context:create_buffer("copy_host_ptr", 4096, ffi.new("cl_uint[1024]")))
    collect()
    o.queue:enqueue_ndrange_kernel(o.kernel, nil, {1024})
  end
  o.queue:finish()
end)

test("a buffer keeps the memory it lies in", function()
  local o = all()
  local buffers = {}
  for i = 1, 20 do
    local x = ffi.new("cl_uint[?]", 1024)
    x[7] = i
    buffers[i] = o.context:create_buffer({"use_host_ptr"}, 4096, x)
  end
  collect()
  local junk = {}
  for i = 1, 200 do junk[i] = ffi.new("cl_uint[?]", 1024, 77) end -- would take the memory that was freed
  for i = 1, 20 do
    local y = ffi.new "cl_uint[1]"
    o.queue:enqueue_read_buffer(buffers[i], true, 28, 4, y)
    equal(y[0], i)
  end
end)

test("commands in flight keep the memory they use", function()
  local o = all()
  local size = 2^16
  local to = o.context:create_buffer(size)
  for i = 1, 300 do
    o.queue:enqueue_write_buffer(to, false, ffi.new("char[?]", size, i % 100))
    o.queue:enqueue_read_buffer(to, false, ffi.new("char[?]", size))
    if i % 30 == 0 then collect() end
  end
  local y = ffi.new("char[?]", size)
  o.queue:enqueue_read_buffer(to, true, y)
  for i = 0, size - 1 do
    if y[i] ~= 0 then error "a write was lost" end
  end
end)

-- A weak list, which keeps only objects referenced elsewhere.
local function weak(...)
  return setmetatable({...}, {__mode = "v"})
end

test("a buffer stays as long as it is mapped", function()
  local o = all()
  local buffer = o.context:create_buffer(4096)
  local x = ffi.cast("cl_uint *", o.queue:enqueue_map_buffer(buffer, true, "write"))
  local seen = weak(buffer)
  buffer = nil
  collect()
  for i = 0, 1023 do x[i] = i end
  equal(seen[1] ~= nil, true, "it stays")
  o.queue:enqueue_unmap_mem_object(seen[1], x)
  collect()
  equal(seen[1], nil)
end)

test("the results are right while the collector runs all the time", function()
  local pause, step = collectgarbage("setpause", 1), collectgarbage("setstepmul", 10000)
  local o = all()
  local x = ffi.cast("cl_uint *", o.queue:enqueue_map_buffer(o.buffer, true, "write"))
  for i = 0, 1023 do x[i] = i end
  o.queue:enqueue_unmap_mem_object(o.buffer, x)
  local events
  for i = 1, 1000 do
    o.kernel:set_arg(1, ffi.new("cl_uint[1]", i))
    events = {o.queue:enqueue_ndrange_kernel(o.kernel, nil, {1024}, {64}, events)}
  end
  cl.wait_for_events(events)
  local y = ffi.new "cl_uint[1024]"
  o.queue:enqueue_read_buffer(o.buffer, true, y)
  for i = 0, 1023 do equal(y[i], i + 500500) end
  collectgarbage("setpause", pause)
  collectgarbage("setstepmul", step)
end)

test("garbage does not exhaust the memory", function()
  local o = all()
  local size = 2^26
  local page = ffi.new "char[1]"
  local buffers = weak()
  for i = 1, 200 do -- 12.5 GiB in all
    local b = o.context:create_buffer(size)
    o.queue:enqueue_write_buffer(b, true, 0, 1, page)
    buffers[i] = b
  end
  local alive = 0
  for _ in pairs(buffers) do alive = alive + 1 end
  equal(alive <= 10, true, alive .. " are alive: at most ten")
end)

all() -- is left for the end of the program
check.finish()
