-- opencl.lua - OpenCL in Lua: platforms, devices, contexts, queues, programs, kernels, buffers and events are
-- objects with methods, released by the collector. Scripts for "OpenCL for Lua" run unmodified.
--
--   local cl = require "opencl"
--   local device = cl.get_platforms()[1]:get_devices()[1]
--   local context = cl.create_context{device}
--   local queue = context:create_command_queue(device)
--
-- docs/lua.md is the manual. Lists begin at 1, as in Lua; kernel arguments at 0, as in OpenCL. A failed call raises
-- a Lua error that names the call and OpenCL's code.
--
-- Objects may be released in any order. OpenCL counts references among its own objects; this module keeps alive the
-- rest: arguments of kernels, host memory that buffers or commands in flight use, and mapped buffers.
-- SPDX-License-Identifier: MIT

local ffi = require "ffi"
local C = require "opencl.C"
local info = require "opencl.info"
local status = require "opencl.status"
local cast, gc, istype, new, sizeof, typeof = ffi.cast, ffi.gc, ffi.istype, ffi.new, ffi.sizeof, ffi.typeof
local failed, wrong = status.failed, status.wrong

status.register()

local cl = {}
local platform, device, context, queue = {}, {}, {}, {}
local mem, program, kernel, event = {}, {}, {}, {}

local code = new "cl_int[1]"      -- of the last call that returns an object
local event_out = new "cl_event[1]"
local size_t3, cl_events = typeof "size_t[3]", typeof "cl_event[?]"
local cl_mem, cl_sampler, cl_device = typeof "cl_mem", typeof "cl_sampler", typeof "cl_device_id"

-- ---- Lists and sizes. ----

-- The list of objects in use as a C array, which the collector does not see.
local in_use

-- Convert a list of objects to a C array; return the array and its length.
local function array(ctype, list, what)
  if type(list) ~= "table" then
    wrong("%s: a list in braces is wanted, not a %s", what, status.kind(list))
  end
  in_use = list
  local n = #list
  local items = new(typeof("$[?]", ctype), n)
  for i = 1, n do
    if not istype(ctype, list[i]) then
      wrong("%s: element %d is a %s", what, i, status.kind(list[i]))
    end
    items[i - 1] = list[i]
  end
  return items, n
end

local function wait_list(events)
  local n = events and #events or 0
  if n == 0 then
    return nil, 0
  end
  in_use = events
  local list = cl_events(n)
  for i = 1, n do
    list[i - 1] = events[i]
  end
  return list, n
end

-- Check a number of bytes: C would misread a negative or fractional number of Lua.
local function bytes(value, what)
  local n = tonumber(value)
  if not n or n < 0 or n % 1 ~= 0 then
    wrong("%s: '%s' is not a number of bytes", what, tostring(value))
  end
  return value
end

-- ---- Objects to keep from the collector. ----

local WEAK = {__mode = "k"}
local kept = setmetatable({}, WEAK)      -- buffer: the host memory or the buffer that contains it
local arguments = setmetatable({}, WEAK) -- kernel: its arguments by index
local mapped = {}                        -- address: the buffers mapped there
local flying, n_flying, prune_at = {}, 0, 64

-- Keep the objects that the event's command uses alive until it completes.
local function hold(command, what)
  if n_flying >= prune_at then
    local n = 0
    for i = 1, n_flying do
      local item = flying[i]
      local state = item[1]:get_info "command_execution_status"
      flying[i] = nil
      if state == "queued" or state == "submitted" or state == "running" then
        n = n + 1
        flying[n] = item
      end
    end
    n_flying, prune_at = n, math.max(64, 2 * n)
  end
  n_flying = n_flying + 1
  flying[n_flying] = {command, what}
end

-- Run the collector after many allocated bytes, because it does not know the sizes of buffers.
local allocated, COLLECT_AFTER = 0, 2^28

local function allocate(size, make)
  allocated = allocated + size
  if allocated > COLLECT_AFTER then
    allocated = 0
    collectgarbage()
  end
  local handle = make()
  local exhausted = code[0] == -4 or code[0] == -5 or code[0] == -6
  if handle == nil and exhausted then -- perhaps garbage holds the memory
    collectgarbage()
    collectgarbage()
    handle = make()
  end
  return handle
end

-- ---- Platforms and devices. ----

function cl.get_platforms()
  local n = new "cl_uint[1]"
  local result = C.clGetPlatformIDs(0, nil, n)
  if result ~= 0 and result ~= -1001 then
    failed("clGetPlatformIDs", result)
  end
  local handles, list = new("cl_platform_id[?]", n[0] + 1), {}
  if n[0] > 0 then
    C.clGetPlatformIDs(n[0], handles, nil)
  end
  for i = 1, n[0] do
    list[i] = handles[i - 1]
  end
  return list
end

function platform:get_info(name)
  return info.ask("clGetPlatformInfo", info.platform, name, self)
end

-- CL_DEVICE_TYPE_ALL is 32 one bits in a field of 64; -1 would be a different number. It excludes devices of the
-- type "custom".
local ALL_TYPES = 0xFFFFFFFFULL

function platform:get_devices(device_type)
  local bits = device_type == nil and ALL_TYPES or info.bits(info.device_type, device_type, "get_devices")
  local n = new "cl_uint[1]"
  local result = C.clGetDeviceIDs(self, bits, 0, nil, n)
  if result == -1 then
    return {}
  elseif result ~= 0 then
    failed("clGetDeviceIDs", result)
  end
  local handles, list = new("cl_device_id[?]", n[0] + 1), {}
  result = C.clGetDeviceIDs(self, bits, n[0], handles, nil)
  if result ~= 0 then
    failed("clGetDeviceIDs", result)
  end
  for i = 1, n[0] do
    list[i] = handles[i - 1]
  end
  return list
end

function device:get_info(name)
  return info.ask("clGetDeviceInfo", info.device, name, self)
end

function device:create_sub_devices(name, value)
  local kind = info.partition[name]
  if not kind then
    wrong("create_sub_devices: '%s' is none of %s", tostring(name), info.names(info.partition))
  end
  local properties = {kind}
  if name == "by_affinity_domain" then
    properties[2] = info.bits(info.affinity_domain, value, "create_sub_devices")
  elseif name == "by_counts" then
    for i, count in ipairs(value) do
      properties[i + 1] = count
    end
    properties[#properties + 1] = 0
  else
    properties[2] = value
  end
  properties[#properties + 1] = 0 -- LuaJIT does not clear the rest of an array that a table initialises
  local list, n = new("intptr_t[?]", #properties, properties), new "cl_uint[1]"
  local result = C.clCreateSubDevices(self, list, 0, nil, n)
  local handles, devices = new("cl_device_id[?]", n[0] + 1), {}
  if result == 0 then
    result = C.clCreateSubDevices(self, list, n[0], handles, nil)
  end
  if result ~= 0 then
    failed("clCreateSubDevices", result, name)
  end
  for i = 1, n[0] do
    devices[i] = gc(handles[i - 1], C.clReleaseDevice)
  end
  return devices
end

-- ---- Contexts and their objects. ----

function cl.create_context(devices)
  local handles, n = array(cl_device, devices, "create_context")
  local handle = C.clCreateContext(nil, n, handles, nil, nil, code)
  if handle == nil then
    failed("clCreateContext", code[0], n == 0 and "the list of devices is empty" or nil)
  end
  return gc(handle, C.clReleaseContext)
end

function context:get_info(name)
  return info.ask("clGetContextInfo", info.context, name, self)
end

-- [flags,] size [, pointer]
function context:create_buffer(flags, size, pointer)
  if type(flags) ~= "string" and type(flags) ~= "table" and flags ~= nil then
    flags, size, pointer = nil, flags, size
  end
  local bits = flags and info.bits(info.mem_flags, flags, "create_buffer") or 0
  size = bytes(size, "create_buffer")
  local handle = allocate(tonumber(size), function()
    return C.clCreateBuffer(self, bits, size, pointer, code)
  end)
  if handle == nil then
    failed("clCreateBuffer", code[0], ("a buffer of %.0f bytes"):format(tonumber(size)))
  end
  handle = gc(handle, C.clReleaseMemObject)
  if bit.band(bits, info.mem_flags.use_host_ptr) ~= 0 then
    kept[handle] = pointer
  end
  return handle
end

function context:create_program_with_source(source)
  local text, length = new("const char *[1]", {source}), new("size_t[1]", #source)
  local handle = C.clCreateProgramWithSource(self, 1, text, length, code)
  if handle == nil then
    failed("clCreateProgramWithSource", code[0])
  end
  return gc(handle, C.clReleaseProgram)
end

-- Finish the queue before releasing it: it may hold the last reference to memory that its commands write.
local function release_queue(self)
  C.clFinish(self)
  C.clReleaseCommandQueue(self)
end

function context:create_command_queue(of, properties)
  local bits = properties and info.bits(info.queue_properties, properties, "create_command_queue") or 0
  if not istype(cl_device, of) then
    wrong("create_command_queue: a device is wanted, not a %s", status.kind(of))
  end
  local handle = C.clCreateCommandQueue(self, of, bits, code)
  if handle == nil then
    failed("clCreateCommandQueue", code[0])
  end
  return gc(handle, release_queue)
end

-- ---- Buffers. ----

-- [flags,] "region", {origin, size}
function mem:create_sub_buffer(flags, kind, region)
  if region == nil then
    flags, kind, region = nil, flags, kind
  end
  if kind ~= "region" or type(region) ~= "table" then
    wrong("create_sub_buffer: \"region\", {origin, size} is wanted")
  end
  local bits = flags and info.bits(info.mem_flags, flags, "create_sub_buffer") or 0
  local what = new("cl_buffer_region", bytes(region[1], "create_sub_buffer"), bytes(region[2], "create_sub_buffer"))
  local handle = C.clCreateSubBuffer(self, bits, 0x1220, what, code)
  if handle == nil then
    failed("clCreateSubBuffer", code[0], ("%s bytes from %s on"):format(region[2], region[1]))
  end
  handle = gc(handle, C.clReleaseMemObject)
  kept[handle] = self
  return handle
end

function mem:get_info(name)
  local parent = name ~= "offset" or info.ask("clGetMemObjectInfo", info.mem, "associated_memobject", self)
  return parent and info.ask("clGetMemObjectInfo", info.mem, name, self) or nil
end

-- Host memory of a buffer, if the script owns the memory.
local function host_memory(buffer)
  local under = kept[buffer]
  return istype(cl_mem, under) and host_memory(under) or under
end

-- ---- Programs and kernels. ----

local function build_log(self)
  local logs = {}
  for _, of in ipairs(self:get_info "devices") do
    local log = self:get_build_info(of, "log") or ""
    if log:find "%S" then
      logs[#logs + 1] = ("log of %s:\n%s"):format(of:get_info "name", (log:gsub("%s+$", "")))
    end
  end
  return #logs > 0 and table.concat(logs, "\n") or nil
end

-- [[devices,] options]
function program:build(devices, options)
  if type(devices) == "string" then
    devices, options = nil, devices
  end
  local handles, n = nil, 0
  if devices then
    handles, n = array(cl_device, devices, "build")
  end
  local result = C.clBuildProgram(self, n, handles, options, nil, nil)
  if result ~= 0 then
    failed("clBuildProgram", result, build_log(self))
  end
end

function program:get_info(name)
  if name ~= "binaries" then
    return info.ask("clGetProgramInfo", info.program, name, self)
  end
  local sizes, binaries, buffers = self:get_info "binary_sizes", {}, {}
  local pointers = new("unsigned char *[?]", #sizes)
  for i, size in ipairs(sizes) do
    buffers[i] = new("unsigned char[?]", size + 1)
    pointers[i - 1] = buffers[i]
  end
  local result = C.clGetProgramInfo(self, 0x1166, sizeof(pointers), pointers, nil)
  if result ~= 0 then
    failed("clGetProgramInfo", result, name)
  end
  for i, size in ipairs(sizes) do
    binaries[i] = ffi.string(buffers[i], size)
  end
  return binaries
end

function program:get_build_info(of, name)
  return info.ask("clGetProgramBuildInfo", info.build, name, self, of)
end

function program:create_kernel(name)
  local handle = C.clCreateKernel(self, name, code)
  if handle == nil then
    failed("clCreateKernel", code[0], ("'%s'"):format(name))
  end
  return gc(handle, C.clReleaseKernel)
end

function program:create_kernels_in_program()
  local n = new "cl_uint[1]"
  local result = C.clCreateKernelsInProgram(self, 0, nil, n)
  local handles, list = new("cl_kernel[?]", n[0] + 1), {}
  if result == 0 and n[0] > 0 then
    result = C.clCreateKernelsInProgram(self, n[0], handles, nil)
  end
  if result ~= 0 then
    failed("clCreateKernelsInProgram", result)
  end
  for i = 1, n[0] do
    list[i] = gc(handles[i - 1], C.clReleaseKernel)
  end
  return list
end

function kernel:get_info(name)
  return info.ask("clGetKernelInfo", info.kernel, name, self)
end

function kernel:get_arg_info(index, name)
  return info.ask("clGetKernelArgInfo", info.arg, name, self, index)
end

-- [device,] name
function kernel:get_work_group_info(of, name)
  if name == nil then
    of, name = nil, of
  end
  return info.ask("clGetKernelWorkGroupInfo", info.work_group, name, self, of)
end

local mem_box, sampler_box = new "cl_mem[1]", new "cl_sampler[1]"

local function keep_argument(self, index, value)
  local list = arguments[self]
  if not list then
    list = {}
    arguments[self] = list
  end
  list[index] = value
end

-- The bytes of an argument given without a size, and their number.
local function argument_bytes(index, value)
  if type(value) ~= "cdata" then
    wrong("set_arg: argument %d is a %s; give a buffer, a cdata such as ffi.new(\"cl_int[1]\", 5), a number of "
          .. "bytes of local memory, or nil", index, type(value))
  end
  local ctype = typeof(value)
  local what = tostring(ctype)
  if what:find "%*" and not what:find "%[" then
    wrong("set_arg: argument %d is a pointer; say how many bytes it points to, set_arg(%d, size, pointer)",
          index, index)
  elseif tonumber(value) then -- a 64-bit integer or any scalar
    return sizeof(value), typeof("$[1]", ctype)(value)
  end
  return sizeof(value), value
end

-- index, buffer | sampler | cdata | nil | size of local memory | size, pointer
function kernel:set_arg(index, value, pointer)
  local result
  if istype(cl_mem, value) then
    mem_box[0] = value
    result = C.clSetKernelArg(self, index, sizeof(mem_box), mem_box)
    keep_argument(self, index, value)
  elseif value == nil then
    mem_box[0] = nil
    result = C.clSetKernelArg(self, index, sizeof(mem_box), mem_box)
    keep_argument(self, index, nil)
  elseif type(value) == "number" then -- with or without bytes
    result = C.clSetKernelArg(self, index, bytes(value, "set_arg"), pointer)
  elseif istype(cl_sampler, value) then
    sampler_box[0] = value
    result = C.clSetKernelArg(self, index, sizeof(sampler_box), sampler_box)
    keep_argument(self, index, value)
  else
    local size, data = argument_bytes(index, value)
    result = C.clSetKernelArg(self, index, size, data)
  end
  if result ~= 0 then
    failed("clSetKernelArg", result,
           ("argument %s of kernel '%s'"):format(tostring(index), self:get_info "function_name"))
  end
end

-- ---- Queues. ----

function queue:get_info(name)
  return info.ask("clGetCommandQueueInfo", info.queue, name, self)
end

-- The event of the command just enqueued.
local function enqueued(result, call, detail)
  if result ~= 0 then
    failed(call, result, detail)
  end
  return gc(event_out[0], C.clReleaseEvent)
end

local offset3, global3, local3 = size_t3(), size_t3(), size_t3()

-- Copy the sizes of a launch into a C array; nil stays nil.
local function sizes(to, list, dimensions, what)
  if list == nil then
    return nil
  elseif #list ~= dimensions then
    wrong("enqueue_ndrange_kernel: the %s has %d dimensions, the global size %d", what, #list, dimensions)
  end
  for i = 1, dimensions do
    to[i - 1] = list[i]
  end
  return to
end

local function launch_detail(k, global, group)
  local function text(list)
    return "{" .. table.concat(list, ", ") .. "}"
  end
  return ("kernel '%s', global size %s, local size %s"):format(k:get_info "function_name", text(global),
                                                                group and text(group) or "nil")
end

-- A kernel with arguments in the script's memory keeps the memory alive until it completes.
local function hold_arguments(k, command)
  local list = arguments[k]
  for _, value in pairs(list) do
    local memory = istype(cl_mem, value) and host_memory(value)
    if memory then
      hold(command, memory)
    end
  end
end

function queue:enqueue_ndrange_kernel(k, offset, global, group, events)
  if not istype("cl_kernel", k) then
    wrong("enqueue_ndrange_kernel: a kernel is wanted, not a %s", status.kind(k))
  end
  local n = #global
  if n < 1 or n > 3 then
    wrong("enqueue_ndrange_kernel: the global size has %d dimensions; 1 to 3 are wanted", n)
  end
  local list, count = wait_list(events)
  local result = C.clEnqueueNDRangeKernel(self, k, n, sizes(offset3, offset, n, "offset"),
                                          sizes(global3, global, n), sizes(local3, group, n, "local size"),
                                          count, list, event_out)
  if result ~= 0 then
    failed("clEnqueueNDRangeKernel", result, launch_detail(k, global, group))
  end
  local command = gc(event_out[0], C.clReleaseEvent)
  if next(kept) and arguments[k] then
    hold_arguments(k, command)
  end
  return command
end

-- Offset and size of a region; the default size reaches the end.
local function region(buffer, offset, size, what)
  offset = bytes(offset or 0, what)
  return offset, bytes(size or buffer:get_info "size" - offset, what)
end

local function address(pointer)
  return tonumber(cast("uintptr_t", cast("void *", pointer)))
end

function queue:enqueue_map_buffer(buffer, blocking, flags, offset, size, events)
  local bits = info.bits(info.map_flags, flags, "enqueue_map_buffer")
  local list, count = wait_list(events)
  offset, size = region(buffer, offset, size, "enqueue_map_buffer")
  local pointer = C.clEnqueueMapBuffer(self, buffer, blocking and 1 or 0, bits, offset, size, count, list,
                                       event_out, code)
  local command = enqueued(code[0], "clEnqueueMapBuffer")
  local at = address(pointer)
  mapped[at] = mapped[at] or {}
  table.insert(mapped[at], buffer)
  return pointer, command
end

-- Remove the buffer from the mappings at an address.
local function unmapped(buffer, pointer)
  local at = address(pointer)
  local buffers = mapped[at] or {}
  for i = #buffers, 1, -1 do
    if buffers[i] == buffer then
      table.remove(buffers, i)
      break
    end
  end
  mapped[at] = buffers[1] and buffers or nil
end

function queue:enqueue_unmap_mem_object(buffer, pointer, events)
  local list, count = wait_list(events)
  local command = enqueued(C.clEnqueueUnmapMemObject(self, buffer, cast("void *", pointer), count, list, event_out),
                           "clEnqueueUnmapMemObject", "is the pointer that of enqueue_map_buffer?")
  unmapped(buffer, pointer)
  return command
end

-- buffer, blocking, [offset, size,] pointer [, events]
local function transfer(call)
  local f = C[call]
  return function(self, buffer, blocking, offset, size, pointer, events)
    if type(offset) == "cdata" and not tonumber(offset) then
      offset, size, pointer, events = nil, nil, offset, size
    end
    if pointer == nil then
      wrong("%s: the pointer is missing", call)
    end
    local list, count = wait_list(events)
    offset, size = region(buffer, offset, size, call)
    local command = enqueued(f(self, buffer, blocking and 1 or 0, offset, size, pointer, count, list, event_out),
                             call, ("%.0f bytes from %.0f on"):format(tonumber(size), tonumber(offset)))
    if not blocking then
      hold(command, pointer)
    end
    return command
  end
end

queue.enqueue_read_buffer = transfer "clEnqueueReadBuffer"
queue.enqueue_write_buffer = transfer "clEnqueueWriteBuffer"

-- source, destination [, source offset, destination offset, size [, events]]
function queue:enqueue_copy_buffer(from, to, from_offset, to_offset, size, events)
  local list, count = wait_list(events)
  from_offset, size = region(from, from_offset, size, "enqueue_copy_buffer")
  to_offset = bytes(to_offset or 0, "enqueue_copy_buffer")
  return enqueued(C.clEnqueueCopyBuffer(self, from, to, from_offset, to_offset, size, count, list, event_out),
                  "clEnqueueCopyBuffer", ("%.0f bytes"):format(tonumber(size)))
end

-- buffer, pattern, pattern size [, offset, size [, events]]
function queue:enqueue_fill_buffer(buffer, pattern, pattern_size, offset, size, events)
  local list, count = wait_list(events)
  offset, size = region(buffer, offset, size, "enqueue_fill_buffer")
  return enqueued(C.clEnqueueFillBuffer(self, buffer, pattern, bytes(pattern_size, "enqueue_fill_buffer"), offset,
                                        size, count, list, event_out),
                  "clEnqueueFillBuffer", ("a pattern of %s bytes"):format(tostring(pattern_size)))
end

function queue:enqueue_marker_with_wait_list(events)
  local list, count = wait_list(events)
  return enqueued(C.clEnqueueMarkerWithWaitList(self, count, list, event_out), "clEnqueueMarkerWithWaitList")
end

function queue:enqueue_barrier_with_wait_list(events)
  local list, count = wait_list(events)
  return enqueued(C.clEnqueueBarrierWithWaitList(self, count, list, event_out), "clEnqueueBarrierWithWaitList")
end

-- Names of OpenCL 1.0 and 1.1.
function queue:enqueue_marker()
  return self:enqueue_marker_with_wait_list()
end

function queue:enqueue_barrier()
  self:enqueue_barrier_with_wait_list()
end

function queue:enqueue_wait_for_events(events)
  if #events > 0 then
    self:enqueue_barrier_with_wait_list(events)
  end
end

function queue:flush()
  local result = C.clFlush(self)
  if result ~= 0 then
    failed("clFlush", result)
  end
end

function queue:finish()
  local result = C.clFinish(self)
  if result ~= 0 then
    failed("clFinish", result)
  end
end

-- ---- Events. ----

function cl.wait_for_events(events)
  local handles, n = array(typeof "cl_event", events, "wait_for_events")
  local result = C.clWaitForEvents(n, handles)
  if result ~= 0 then
    failed("clWaitForEvents", result, n == 0 and "the list of events is empty" or nil)
  end
end

function event:get_info(name)
  return info.ask("clGetEventInfo", info.event, name, self)
end

function event:get_profiling_info(name)
  return info.ask("clGetEventProfilingInfo", info.profiling, name, self)
end

-- ---- Methods of the objects. ----

for name, methods in pairs{platform_id = platform, device_id = device, context = context, command_queue = queue,
                           mem = mem, program = program, kernel = kernel, event = event} do
  ffi.metatype("struct _cl_" .. name, {__index = methods})
end

return cl
