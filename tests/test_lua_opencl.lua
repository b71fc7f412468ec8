-- test_lua_opencl.lua - `require "opencl"`: every call and argument form of the module, on the first device.
-- Run by `stdcl run` and by luajit with lua/?.lua in LUA_PATH.
-- SPDX-License-Identifier: MIT
package.path = arg[0]:match "^(.-)[^/]*$" .. "?.lua;" .. package.path
local check = require "test_lua_check"
local cl, ffi = require "opencl", require "ffi"
local test, equal, raises = check.test, check.equal, check.raises

local device, platform = check.first_device()
local context = cl.create_context{device}
local queue = context:create_command_queue(device, "profiling")
local looks = not platform:get_info "name":find "NVIDIA" -- the driver (580) takes sub-buffers and arguments that there cannot be

local SOURCE = [[
kernel void iota(global uint *x, uint factor) { x[get_global_id(0)] = (get_global_id(0) + 1) * factor; }
kernel void shift(global uint *x, ulong n) { if (get_global_id(0) <= n) x[get_global_id(0) - 1] = get_global_id(0); }
kernel void through(local volatile uint *restrict l, global uint *x, ulong n)
{
    l[get_local_id(0)] = get_global_id(0) + 1;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_global_id(0) < n) x[get_global_id(0)] = l[get_local_id(0)];
}
kernel void maybe(global const uint *from, global uint *x) { x[get_global_id(0)] = from ? from[0] : 7; }
kernel void spread(global float *x, float4 v) { x[0] = v.x; x[1] = v.y; x[2] = v.z; x[3] = v.w; }
kernel void plane(global uint *x) { x[get_global_id(1) * get_global_size(0) + get_global_id(0)] = get_group_id(1); }
kernel __attribute__((reqd_work_group_size(4, 2, 1))) void fixed(constant uint *x) { }
]]
local program = context:create_program_with_source(SOURCE)
program:build()

local function uints(buffer, n)
  local x = ffi.new("cl_uint[?]", n)
  queue:enqueue_read_buffer(buffer, true, 0, n * 4, x)
  return x
end

-- ---- Types. ----

test("types have the sizes of CL/cl_platform.h", function()
  local sizes = {char = 1, uchar = 1, short = 2, ushort = 2, int = 4, uint = 4, long = 8, ulong = 8, half = 2,
                 float = 4, double = 8}
  for name, size in pairs(sizes) do
    equal(ffi.sizeof("cl_" .. name), size, name)
    for _, n in ipairs{2, 3, 4, 8, 16} do
      local room = (n == 3 and 4 or n) * size
      equal(ffi.sizeof("cl_" .. name .. n), room, name .. n)
      equal(ffi.alignof("cl_" .. name .. n), room, "alignment of " .. name .. n)
    end
  end
  equal(ffi.sizeof "cl_double3", 32)
  equal(ffi.sizeof "cl_bool", 4)
end)

test("components have all their names", function()
  local v = ffi.new "cl_int16"
  for i = 0, 15 do v.s[i] = i end
  equal(v.x + v.y + v.z + v.w, 6)
  equal(v.s0, 0) equal(v.s9, 9) equal(v.sA, 10) equal(v.sa, 10) equal(v.sF, 15) equal(v.sf, 15)
  equal(v.hi.s0, 8) equal(v.lo.hi.x, 4) equal(v.hi.hi.hi.y, 15)
  local d = ffi.new "cl_double3[2]"
  d[1].z = 5
  equal(ffi.cast("double *", d)[6], 5)
end)

-- ---- Platforms, devices, contexts. ----

test("platforms", function()
  for _, name in ipairs{"name", "vendor", "version", "extensions", "profile"} do
    equal(type(platform:get_info(name)), "string", name)
  end
  equal(platform:get_info("version"):sub(1, 7), "OpenCL ")
  raises({"test_lua_opencl.lua:", "'nmae'", "name"}, function() platform:get_info "nmae" end)
end)

test("devices by type", function()
  local all = platform:get_devices()
  local of_types = 0
  for _, kind in ipairs{"cpu", "gpu", "accelerator"} do
    for _, d in ipairs(platform:get_devices(kind)) do
      equal(d:get_info("type")[kind], true)
      of_types = of_types + 1
    end
  end
  equal(of_types, #all)
  equal(#platform:get_devices{"cpu", "gpu", "accelerator"}, #all)
  local known, custom = pcall(platform.get_devices, platform, "custom")
  if known then equal(#custom, 0) -- an empty table, not an error
  else equal(custom:find("CL_INVALID_DEVICE_TYPE", 1, true) ~= nil, true) end -- as NVIDIA's driver has it
  raises("'quantum' is none of", platform.get_devices, platform, "quantum")
end)

test("what devices tell", function()
  local kinds = {
    number = {"address_bits", "max_compute_units", "max_work_group_size", "global_mem_size", "local_mem_size",
              "max_mem_alloc_size", "max_clock_frequency", "mem_base_addr_align", "vendor_id",
              "profiling_timer_resolution", "native_vector_width_float", "max_work_item_dimensions"},
    string = {"name", "vendor", "version", "driver_version", "profile", "extensions", "opencl_c_version",
              "local_mem_type", "built_in_kernels"},
    boolean = {"available", "compiler_available", "endian_little", "image_support", "error_correction_support"},
    table = {"type", "queue_properties", "single_fp_config", "execution_capabilities", "max_work_item_sizes",
             "partition_properties", "partition_affinity_domain"},
  }
  for kind, names in pairs(kinds) do
    for _, name in ipairs(names) do
      equal(type(device:get_info(name)), kind, name)
    end
  end
  equal(device:get_info "platform", platform)
  equal(device:get_info "parent_device", nil)
  equal(device:get_info "partition_type", nil)
  equal(device:get_info("single_fp_config").round_to_nearest or device:get_info("single_fp_config").round_to_zero,
        true)
  equal(device:get_info("execution_capabilities").kernel, true)
  equal(#device:get_info "max_work_item_sizes", device:get_info "max_work_item_dimensions")
end)

test("sub-devices", function()
  if not device:get_info("partition_properties").equally or device:get_info "max_compute_units" < 2 then
    return
  end
  local parts = device:create_sub_devices("equally", 1)
  equal(#parts, device:get_info "max_compute_units")
  local kind, value = parts[1]:get_info "partition_type"
  equal(kind, "equally")
  equal(value, 1)
  equal(parts[1]:get_info "parent_device", device)
  local of_part = cl.create_context{parts[1]}
  equal(of_part:create_command_queue(parts[1]):get_info "device", parts[1])
  raises("'evenly' is none of", device.create_sub_devices, device, "evenly", 1)
  raises("clCreateSubDevices: CL_", device.create_sub_devices, device, "equally", 100000)
end)

test("contexts", function()
  equal(context:get_info "num_devices", 1)
  equal(context:get_info("devices")[1], device)
  raises({"clCreateContext: CL_INVALID_VALUE (-30)", "the list of devices is empty"}, cl.create_context, {})
  raises("a list in braces is wanted", cl.create_context, device)
  raises("element 1 is a", cl.create_context, {platform})
end)

-- ---- Buffers. ----

test("buffers", function()
  local b = context:create_buffer(1024)
  equal(b:get_info "type", "buffer")
  equal(b:get_info "size", 1024)
  equal(b:get_info "host_ptr", nil)
  equal(b:get_info "map_count", 0)
  equal(b:get_info "offset", nil)
  equal(b:get_info "associated_memobject", nil)
  equal(b:get_info "context", context)
  equal(b:get_info("flags").read_write, true)
  equal(b:get_info("flags").read_only, nil)
  local flags = context:create_buffer({"read_only", "alloc_host_ptr"}, 64):get_info "flags"
  equal(flags.read_only and flags.alloc_host_ptr, true)
  equal(flags.read_write, nil)
  equal(context:create_buffer("host_no_access", 64):get_info("flags").host_no_access, true)
  raises({"'readonly' is none of", "read_only"}, context.create_buffer, context, "readonly", 64)
  raises("clCreateBuffer: CL_INVALID_BUFFER_SIZE (-61)", context.create_buffer, context, 0)
  raises("not a number of bytes", context.create_buffer, context, -4)
  raises("clCreateBuffer: CL_INVALID_HOST_PTR (-37)", context.create_buffer, context, "use_host_ptr", 64)
end)

test("buffers from memory of the host", function()
  local n = 256
  local x = ffi.new("cl_uint[?]", n)
  for i = 0, n - 1 do x[i] = n - i end
  local copy = context:create_buffer("copy_host_ptr", n * 4, x)
  local use = context:create_buffer({"read_write", "use_host_ptr"}, n * 4, x)
  equal(use:get_info "host_ptr", ffi.cast("void *", x))
  x[3] = 0
  equal(uints(copy, n)[3], n - 3)
end)

test("sub-buffers", function()
  local align = device:get_info "mem_base_addr_align" / 8
  local whole = context:create_buffer(4 * align)
  local part = whole:create_sub_buffer("region", {align, 2 * align})
  equal(part:get_info "size", 2 * align)
  equal(part:get_info "offset", align)
  equal(part:get_info "associated_memobject", whole)
  equal(whole:create_sub_buffer("read_only", "region", {0, align}):get_info("flags").read_only, true)
  equal(whole:create_sub_buffer("region", {0, align}):get_info "offset", 0)
  queue:enqueue_fill_buffer(whole, ffi.new("cl_uint[1]", 1), 4)
  queue:enqueue_fill_buffer(part, ffi.new("cl_uint[1]", 2), 4)
  local x = uints(whole, align)
  equal(x[align / 4 - 1], 1) equal(x[align / 4], 2) equal(x[3 * align / 4 - 1], 2) equal(x[3 * align / 4], 1)
  raises("\"region\", {origin, size} is wanted", whole.create_sub_buffer, whole, "part", {0, 4})
  if looks then raises("clCreateSubBuffer: CL_INVALID_VALUE", whole.create_sub_buffer, whole, "region", {0, 8 * align}) end
end)

-- ---- Programs and kernels. ----

test("programs", function()
  equal(program:get_info "source", SOURCE)
  equal(program:get_info "num_devices", 1)
  equal(program:get_info("devices")[1], device)
  equal(program:get_info "context", context)
  equal(program:get_info "num_kernels", 7)
  equal((";" .. program:get_info "kernel_names" .. ";"):find(";iota;", 1, true) ~= nil, true)
  local sizes, binaries = program:get_info "binary_sizes", program:get_info "binaries"
  equal(#sizes == 1 and #binaries, 1)
  equal(#binaries[1], sizes[1])
  equal(program:get_build_info(device, "status"), "success")
  equal(program:get_build_info(device, "binary_type"), "executable")
  equal(type(program:get_build_info(device, "log")), "string")
end)

test("building", function()
  local p = context:create_program_with_source "kernel void f(global int *x) { x[0] = VALUE; }"
  equal(p:get_build_info(device, "status"), nil)
  p:build("-D VALUE=3")
  equal(p:get_build_info(device, "options"):find("-D VALUE=3", 1, true) ~= nil, true)
  p = context:create_program_with_source "kernel void f(global int *x) { x[0] = VALUE; }"
  raises({"test_lua_opencl.lua:", "clBuildProgram: CL_BUILD_PROGRAM_FAILURE (-11): the program does not compile",
          "VALUE"}, function() p:build() end)
  equal(p:get_build_info(device, "status"), "error")
  p = context:create_program_with_source "kernel void f() { }"
  p:build({device}, "-cl-fast-relaxed-math")
  p = context:create_program_with_source "kernel void f() { }"
  p:build({device})
  p = context:create_program_with_source "kernel void f() { }"
  raises("clCreateKernel: CL_INVALID_PROGRAM_EXECUTABLE (-45)", p.create_kernel, p, "f")
end)

test("kernels", function()
  local k = program:create_kernel "through"
  equal(k:get_info "function_name", "through")
  equal(k:get_info "num_args", 3)
  equal(k:get_info "context", context)
  equal(k:get_info "program", program)
  equal(k:get_work_group_info(device, "work_group_size") >= 1, true)
  equal(k:get_work_group_info("work_group_size"), k:get_work_group_info(device, "work_group_size"))
  equal(k:get_work_group_info(device, "preferred_work_group_size_multiple") >= 1, true)
  equal(type(k:get_work_group_info(device, "local_mem_size")), "number")
  equal(k:get_work_group_info(device, "global_work_size"), nil) -- not a custom device
  equal(table.concat(program:create_kernel "fixed":get_work_group_info(device, "compile_work_group_size"), ","),
        "4,2,1")
  local names = {}
  for i, each in ipairs(program:create_kernels_in_program()) do names[i] = each:get_info "function_name" end
  table.sort(names)
  equal(table.concat(names, " "), "fixed iota maybe plane shift spread through")
  raises({"clCreateKernel: CL_INVALID_KERNEL_NAME (-46)", "'nosuch'"}, program.create_kernel, program, "nosuch")
end)

test("what kernels tell of their arguments", function()
  local p = context:create_program_with_source(SOURCE)
  p:build "-cl-kernel-arg-info"
  local k = p:create_kernel "through"
  equal(k:get_arg_info(0, "name"), "l")
  equal(k:get_arg_info(0, "address_qualifier"), "local")
  equal(k:get_arg_info(0, "type_name"), "uint*")
  equal(k:get_arg_info(0, "type_qualifier").volatile, true)
  equal(k:get_arg_info(0, "type_qualifier").const, nil)
  equal(k:get_arg_info(1, "address_qualifier"), "global")
  equal(k:get_arg_info(2, "address_qualifier"), "private")
  equal(k:get_arg_info(2, "access_qualifier"), nil)
  equal(p:create_kernel "fixed":get_arg_info(0, "address_qualifier"), "constant")
  if looks then raises("clGetKernelArgInfo: CL_INVALID_ARG_INDEX (-49)", k.get_arg_info, k, 9, "name") end
end)

test("arguments", function()
  local b, k = context:create_buffer(64), program:create_kernel "iota"
  local function run(...)
    k:set_arg(...)
    queue:enqueue_ndrange_kernel(k, nil, {16})
    return uints(b, 16)[15]
  end
  k:set_arg(0, b)
  equal(run(1, ffi.new("cl_uint[1]", 5)), 80)
  equal(run(1, 4, ffi.new("cl_uint[1]", 6)), 96)
  equal(run(1, ffi.sizeof "cl_uint", ffi.new("cl_uint[2]", 7, 9)), 112)
  equal(run(1, ffi.new("cl_uint", 8)), 128) -- a scalar cdata too
  local s = program:create_kernel "spread"
  s:set_arg(0, b)
  s:set_arg(1, ffi.new("cl_float4", {{1, 2, 3, 4}}))
  queue:enqueue_ndrange_kernel(s, nil, {1})
  raises("a kernel is wanted, not a nil", queue.enqueue_ndrange_kernel, queue, nil, nil, {1})
  equal(ffi.cast("float *", uints(b, 4))[3], 4)
  local m = program:create_kernel "maybe"
  m:set_arg(0, nil)
  m:set_arg(1, b)
  queue:enqueue_ndrange_kernel(m, nil, {1})
  equal(uints(b, 1)[0], 7)

  raises({"clSetKernelArg: CL_INVALID_ARG_INDEX (-49)", "argument 5 of kernel 'iota'"}, k.set_arg, k, 5, b)
  raises("clSetKernelArg: CL_INVALID_ARG_SIZE (-51)", k.set_arg, k, 1, ffi.new "cl_ulong[1]")
  raises("argument 1 is a string", k.set_arg, k, 1, "5")
  raises("argument 1 is a pointer; say how many bytes", k.set_arg, k, 1, ffi.cast("cl_uint *", ffi.new "cl_uint[1]"))
  raises({"clEnqueueNDRangeKernel: CL_INVALID_KERNEL_ARGS (-52)", "kernel 'plane', global size {4}"},
         queue.enqueue_ndrange_kernel, queue, program:create_kernel "plane", nil, {4})
end)

-- ---- Commands. ----

test("launches", function()
  local n = 12345
  local b, k = context:create_buffer(n * 4), program:create_kernel "shift"
  k:set_arg(0, b)
  k:set_arg(1, ffi.sizeof "cl_ulong", ffi.new("cl_ulong[1]", n))
  local group = math.min(64, k:get_work_group_info(device, "work_group_size"))
  queue:enqueue_ndrange_kernel(k, {1}, {math.ceil(n / group) * group}, {group})
  local x = uints(b, n)
  for i = 0, n - 1 do equal(x[i], i + 1) end

  local t = program:create_kernel "through"
  t:set_arg(0, group * 4)
  t:set_arg(1, b)
  t:set_arg(2, ffi.new("cl_ulong[1]", n))
  queue:enqueue_fill_buffer(b, ffi.new "cl_uint[1]", 4)
  queue:enqueue_ndrange_kernel(t, nil, {math.ceil(n / group) * group}, {group})
  x = uints(b, n)
  for i = 0, n - 1 do equal(x[i], i + 1) end

  local p = program:create_kernel "plane"
  p:set_arg(0, b)
  queue:enqueue_ndrange_kernel(p, {0, 0}, {8, 4}, {4, 2})
  equal(uints(b, 32)[31], 1)
  raises({"clEnqueueNDRangeKernel: CL_INVALID_WORK_GROUP_SIZE (-54)", "local size {3, 2}"},
         queue.enqueue_ndrange_kernel, queue, p, nil, {8, 4}, {3, 2})
  raises("4 dimensions", queue.enqueue_ndrange_kernel, queue, p, nil, {1, 1, 1, 1})
  raises("the local size has 1 dimensions", queue.enqueue_ndrange_kernel, queue, p, nil, {8, 4}, {4})
end)

test("reading and writing", function()
  local n = 64
  local b, x, y = context:create_buffer(n * 4), ffi.new("cl_uint[?]", n), ffi.new("cl_uint[?]", n)
  for i = 0, n - 1 do x[i] = i + 1 end
  queue:enqueue_write_buffer(b, true, x)
  local event = queue:enqueue_read_buffer(b, false, y)
  cl.wait_for_events{event}
  for i = 0, n - 1 do equal(y[i], i + 1) end
  queue:enqueue_write_buffer(b, true, n * 2, n * 2, x)       -- the lower half over the upper
  queue:enqueue_read_buffer(b, true, nil, nil, y)
  equal(y[n / 2 - 1], n / 2)
  equal(y[n - 1], n / 2)
  queue:enqueue_read_buffer(b, true, n * 4 - 4, nil, y)      -- to the end
  equal(y[0], n / 2)
  event = queue:enqueue_write_buffer(b, false, 4, 4, ffi.new("cl_uint[1]", 99), {event})
  queue:enqueue_read_buffer(b, true, y, {event})
  equal(y[1], 99)
  raises("clEnqueueReadBuffer: CL_INVALID_VALUE (-30)", queue.enqueue_read_buffer, queue, b, true, 0, n * 4 + 1, y)
  raises("the pointer is missing", queue.enqueue_read_buffer, queue, b, true)
end)

test("mapping", function()
  local n = 64
  local b = context:create_buffer(n * 4)
  local p, event = queue:enqueue_map_buffer(b, true, "write_invalidate_region")
  equal(event:get_info "command_type", "map_buffer")
  local x = ffi.cast("cl_uint *", p)
  for i = 0, n - 1 do x[i] = 3 * i end
  equal(b:get_info "map_count", 1)
  local unmap = queue:enqueue_unmap_mem_object(b, x)
  p = queue:enqueue_map_buffer(b, true, {"read", "write"}, 4 * 10, 4, {unmap})
  equal(ffi.cast("cl_uint *", p)[0], 30)
  queue:enqueue_unmap_mem_object(b, p)
  queue:finish()
  repeat until b:get_info "map_count" == 0 -- PoCL counts down a moment after the command is complete
  p, event = queue:enqueue_map_buffer(b, false, "read", 40)
  cl.wait_for_events{event}
  equal(ffi.cast("cl_uint *", p)[53], 189)
  queue:enqueue_unmap_mem_object(b, p, {event})
  raises("'reed' is none of", queue.enqueue_map_buffer, queue, b, true, "reed")
  raises("clEnqueueMapBuffer: CL_INVALID_VALUE (-30)", queue.enqueue_map_buffer, queue, b, true, "read", 0, n * 8)
  raises("clEnqueueUnmapMemObject: CL_INVALID_VALUE (-30)", queue.enqueue_unmap_mem_object, queue, b,
         ffi.new "char[4]")
end)

test("copying and filling", function()
  local a, b = context:create_buffer(256), context:create_buffer(256)
  queue:enqueue_fill_buffer(a, ffi.new("cl_uint[1]", 0xfe654321), 4)
  queue:enqueue_fill_buffer(a, ffi.new("cl_ushort[1]", 0xabcd), 2, 128)
  queue:enqueue_fill_buffer(a, ffi.new("cl_uchar[1]", 0x11), 1, 0, 4)
  queue:enqueue_copy_buffer(a, b)
  local x = uints(b, 64)
  equal(x[0], 0x11111111) equal(x[1], 0xfe654321) equal(x[31], 0xfe654321) equal(x[32], 0xabcdabcd)
  local event = queue:enqueue_copy_buffer(a, b, 128, 0, 4)
  queue:enqueue_copy_buffer(a, b, 0, 252, 4, {event})
  x = uints(b, 64)
  equal(x[0], 0xabcdabcd) equal(x[1], 0xfe654321) equal(x[63], 0x11111111)
  raises("clEnqueueFillBuffer: CL_INVALID_VALUE (-30)", queue.enqueue_fill_buffer, queue, a, ffi.new "char[3]", 3)
  raises("clEnqueueCopyBuffer: CL_", queue.enqueue_copy_buffer, queue, a, a, 0, 4, 64)
end)

test("queues", function()
  equal(queue:get_info "context", context)
  equal(queue:get_info "device", device)
  equal(queue:get_info("properties").profiling, true)
  equal(context:create_command_queue(device):get_info("properties").profiling, nil)
  if device:get_info("queue_properties").out_of_order_exec_mode then
    local both = context:create_command_queue(device, {"out_of_order_exec_mode", "profiling"}):get_info "properties"
    equal(both.out_of_order_exec_mode and both.profiling, true)
  end
  raises("'profile' is none of", context.create_command_queue, context, device, "profile")
  raises("a device is wanted", context.create_command_queue, context, platform)
end)

test("markers, barriers, events", function()
  local other = context:create_command_queue(device)
  local a, b = context:create_buffer(2^20), context:create_buffer(2^20)
  local event = queue:enqueue_copy_buffer(a, b)
  queue:flush()
  local marker = other:enqueue_marker_with_wait_list{event}
  other:enqueue_barrier_with_wait_list{marker}
  other:enqueue_wait_for_events{event, marker}
  other:enqueue_barrier()
  cl.wait_for_events{other:enqueue_marker(), other:enqueue_marker_with_wait_list(),
                     other:enqueue_barrier_with_wait_list()}
  equal(event:get_info "command_type", "copy_buffer")
  equal(event:get_info "command_execution_status", "complete")
  equal(event:get_info "command_queue", queue)
  equal(event:get_info "context", context)
  local last = 0
  for _, name in ipairs{"queued", "submit", "start", "end"} do
    local t = event:get_profiling_info(name)
    equal(ffi.istype("cl_ulong", t), true)
    equal(t >= last, true, name)
    last = t
  end
  raises({"clGetEventProfilingInfo: CL_PROFILING_INFO_NOT_AVAILABLE (-7)", "\"profiling\""},
         marker.get_profiling_info, marker, "start")
  raises("the list of events is empty", cl.wait_for_events, {})
end)

check.finish()
