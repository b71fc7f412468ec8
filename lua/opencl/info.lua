-- opencl/info.lua - queries of OpenCL's objects, and the conversion of their results to Lua values.
--
-- Each table below lists queries by name, with OpenCL's code and the kind of the result. Strings, numbers and
-- booleans become Lua's; bit fields become tables such as {read_write = true}; enumerations become strings, with nil
-- for "none"; objects become objects. Times are 64-bit integers (cdata).
-- SPDX-License-Identifier: MIT

local ffi = require "ffi"
local C = require "opencl.C"
local status = require "opencl.status"
local floor = math.floor

status.register()

local M = {}

-- ---- Kinds of results: functions of the bytes and their number. ----

local function number(ctype)
  local pointer = ffi.typeof("const " .. ctype .. " *")
  return function(bytes) return tonumber(ffi.cast(pointer, bytes)[0]) end
end

local uint, ulong, size, int = number "cl_uint", number "cl_ulong", number "size_t", number "cl_int"

local function truth(bytes)
  return uint(bytes) ~= 0
end

local function text(bytes, n)
  return n > 0 and ffi.string(bytes, n - 1) or ""
end

-- A list of elements of a C type.
local function list(ctype, convert)
  local pointer, width = ffi.typeof("const " .. ctype .. " *"), ffi.sizeof(ctype)
  return function(bytes, n)
    local values, items = {}, ffi.cast(pointer, bytes)
    for i = 1, tonumber(n) / width do
      values[i] = convert(items[i - 1])
    end
    return values
  end
end

local sizes = list("size_t", tonumber)

-- The names of the bits that are set; all named bits are below 2^32.
local function flags(names)
  return function(bytes)
    local set, value = {}, ulong(bytes)
    for name, bit in pairs(names) do
      if floor(value / bit) % 2 == 1 then
        set[name] = true
      end
    end
    return set
  end
end

local function enum(names, convert)
  return function(bytes) return names[(convert or uint)(bytes)] end
end

local function address(bytes)
  local p = ffi.cast("void **", bytes)[0]
  return p ~= nil and p or nil
end

local function nanoseconds(bytes)
  return ffi.cast("const cl_ulong *", bytes)[0]
end

-- An object; the script owns a reference to it.
local function object(ctype, retain, release)
  local function own(handle)
    if handle == nil then
      return nil
    end
    C[retain](handle)
    return ffi.gc(handle, C[release])
  end
  local pointer = ffi.typeof(ctype .. " *")
  return function(bytes) return own(ffi.cast(pointer, bytes)[0]) end, own
end

local platform = function(bytes) return ffi.cast("cl_platform_id *", bytes)[0] end
local device, own_device = object("cl_device_id", "clRetainDevice", "clReleaseDevice")
local devices = list("cl_device_id", own_device)
local context = object("cl_context", "clRetainContext", "clReleaseContext")
local mem = object("cl_mem", "clRetainMemObject", "clReleaseMemObject")
local program = object("cl_program", "clRetainProgram", "clReleaseProgram")

-- Releasing a queue waits for its commands, see opencl.lua.
local function queue(bytes)
  local handle = ffi.cast("cl_command_queue *", bytes)[0]
  if handle ~= nil then
    C.clRetainCommandQueue(handle)
    return ffi.gc(handle, C.clReleaseCommandQueue)
  end
end

-- ---- Names of bits, with which scripts also give flags. ----

M.device_type = {default = 1, cpu = 2, gpu = 4, accelerator = 8, custom = 16}
M.mem_flags = {
  read_write = 1, write_only = 2, read_only = 4, use_host_ptr = 8, alloc_host_ptr = 16, copy_host_ptr = 32,
  host_write_only = 128, host_read_only = 256, host_no_access = 512,
}
M.map_flags = {read = 1, write = 2, write_invalidate_region = 4}
M.queue_properties = {out_of_order_exec_mode = 1, profiling = 2}
M.affinity_domain = {numa = 1, l4_cache = 2, l3_cache = 4, l2_cache = 8, l1_cache = 16, next_partitionable = 32}
M.partition = {equally = 0x1086, by_counts = 0x1087, by_affinity_domain = 0x1088}
local fp = {denorm = 1, inf_nan = 2, round_to_nearest = 4, round_to_zero = 8, round_to_inf = 16, fma = 32,
            soft_float = 64, correctly_rounded_divide_sqrt = 128}

local function reverse(names)
  local back = {}
  for name, value in pairs(names) do
    back[value] = name
  end
  return back
end

-- The partition types that a device supports, as a set.
local function partitions(bytes, n)
  local set, names = {}, reverse(M.partition)
  for _, value in ipairs(list("intptr_t", tonumber)(bytes, n)) do
    if names[value] then
      set[names[value]] = true
    end
  end
  return set
end

-- The partition of a sub-device: name and value; nothing for a whole device.
local function partition_type(bytes, n)
  local values = list("intptr_t", tonumber)(bytes, n)
  local name = reverse(M.partition)[values[1]]
  if name == "equally" then
    return name, values[2]
  elseif name == "by_affinity_domain" then
    return name, reverse(M.affinity_domain)[values[2]]
  elseif name == "by_counts" then
    local counts = {}
    while (values[#counts + 2] or 0) ~= 0 do
      counts[#counts + 1] = values[#counts + 2]
    end
    return name, counts
  end
end

-- ---- The queries. ----

M.platform = {
  profile = {0x0900, text}, version = {0x0901, text}, name = {0x0902, text}, vendor = {0x0903, text},
  extensions = {0x0904, text},
}

M.device = {
  type = {0x1000, flags(M.device_type)},
  vendor_id = {0x1001, uint},
  max_compute_units = {0x1002, uint},
  max_work_item_dimensions = {0x1003, uint},
  max_work_group_size = {0x1004, size},
  max_work_item_sizes = {0x1005, sizes},
  preferred_vector_width_char = {0x1006, uint},
  preferred_vector_width_short = {0x1007, uint},
  preferred_vector_width_int = {0x1008, uint},
  preferred_vector_width_long = {0x1009, uint},
  preferred_vector_width_float = {0x100A, uint},
  preferred_vector_width_double = {0x100B, uint},
  max_clock_frequency = {0x100C, uint},
  address_bits = {0x100D, uint},
  max_read_image_args = {0x100E, uint},
  max_write_image_args = {0x100F, uint},
  max_mem_alloc_size = {0x1010, ulong},
  image2d_max_width = {0x1011, size},
  image2d_max_height = {0x1012, size},
  image3d_max_width = {0x1013, size},
  image3d_max_height = {0x1014, size},
  image3d_max_depth = {0x1015, size},
  image_support = {0x1016, truth},
  max_parameter_size = {0x1017, size},
  max_samplers = {0x1018, uint},
  mem_base_addr_align = {0x1019, uint},
  min_data_type_align_size = {0x101A, uint},
  single_fp_config = {0x101B, flags(fp)},
  global_mem_cache_type = {0x101C, enum{"read_only", "read_write"}},
  global_mem_cacheline_size = {0x101D, uint},
  global_mem_cache_size = {0x101E, ulong},
  global_mem_size = {0x101F, ulong},
  max_constant_buffer_size = {0x1020, ulong},
  max_constant_args = {0x1021, uint},
  local_mem_type = {0x1022, enum{"local", "global"}},
  local_mem_size = {0x1023, ulong},
  error_correction_support = {0x1024, truth},
  profiling_timer_resolution = {0x1025, size},
  endian_little = {0x1026, truth},
  available = {0x1027, truth},
  compiler_available = {0x1028, truth},
  execution_capabilities = {0x1029, flags{kernel = 1, native_kernel = 2}},
  queue_properties = {0x102A, flags(M.queue_properties)},
  name = {0x102B, text},
  vendor = {0x102C, text},
  driver_version = {0x102D, text},
  profile = {0x102E, text},
  version = {0x102F, text},
  extensions = {0x1030, text},
  platform = {0x1031, platform},
  double_fp_config = {0x1032, flags(fp)},
  half_fp_config = {0x1033, flags(fp)},
  preferred_vector_width_half = {0x1034, uint},
  host_unified_memory = {0x1035, truth},
  native_vector_width_char = {0x1036, uint},
  native_vector_width_short = {0x1037, uint},
  native_vector_width_int = {0x1038, uint},
  native_vector_width_long = {0x1039, uint},
  native_vector_width_float = {0x103A, uint},
  native_vector_width_double = {0x103B, uint},
  native_vector_width_half = {0x103C, uint},
  opencl_c_version = {0x103D, text},
  linker_available = {0x103E, truth},
  built_in_kernels = {0x103F, text},
  image_max_buffer_size = {0x1040, size},
  image_max_array_size = {0x1041, size},
  parent_device = {0x1042, device},
  partition_max_sub_devices = {0x1043, uint},
  partition_properties = {0x1044, partitions},
  partition_affinity_domain = {0x1045, flags(M.affinity_domain)},
  partition_type = {0x1046, partition_type},
  preferred_interop_user_sync = {0x1048, truth},
  printf_buffer_size = {0x1049, size},
}

M.context = {
  devices = {0x1081, devices}, num_devices = {0x1083, uint}, reference_count = {0x1080, uint},
}

M.queue = {
  context = {0x1090, context}, device = {0x1091, device}, reference_count = {0x1092, uint},
  properties = {0x1093, flags(M.queue_properties)},
}

M.mem = {
  type = {0x1100, enum{[0x10F0] = "buffer", [0x10F1] = "image2d", [0x10F2] = "image3d",
                       [0x10F3] = "image2d_array", [0x10F4] = "image1d", [0x10F5] = "image1d_array",
                       [0x10F6] = "image1d_buffer"}},
  flags = {0x1101, flags(M.mem_flags)}, size = {0x1102, size}, host_ptr = {0x1103, address},
  map_count = {0x1104, uint}, reference_count = {0x1105, uint}, context = {0x1106, context},
  associated_memobject = {0x1107, mem}, offset = {0x1108, size},
}

M.program = {
  reference_count = {0x1160, uint}, context = {0x1161, context}, num_devices = {0x1162, uint},
  devices = {0x1163, devices}, source = {0x1164, text}, binary_sizes = {0x1165, sizes},
  num_kernels = {0x1167, size}, kernel_names = {0x1168, text},
}

M.build = {
  status = {0x1181, enum({[0] = "success", [-2] = "error", [-3] = "in_progress"}, int)},
  options = {0x1182, text}, log = {0x1183, text},
  binary_type = {0x1184, enum{"compiled_object", "library", [4] = "executable"}},
}

M.kernel = {
  function_name = {0x1190, text}, num_args = {0x1191, uint}, reference_count = {0x1192, uint},
  context = {0x1193, context}, program = {0x1194, program}, attributes = {0x1195, text},
}

M.arg = {
  address_qualifier = {0x1196, enum{[0x119B] = "global", [0x119C] = "local", [0x119D] = "constant",
                                    [0x119E] = "private"}},
  access_qualifier = {0x1197, enum{[0x11A0] = "read_only", [0x11A1] = "write_only", [0x11A2] = "read_write"}},
  type_name = {0x1198, text}, name = {0x119A, text},
  type_qualifier = {0x1199, flags{const = 1, restrict = 2, volatile = 4}},
}

M.work_group = {
  work_group_size = {0x11B0, size}, compile_work_group_size = {0x11B1, sizes}, local_mem_size = {0x11B2, ulong},
  preferred_work_group_size_multiple = {0x11B3, size}, private_mem_size = {0x11B4, ulong},
  global_work_size = {0x11B5, sizes},
}

M.event = {
  command_queue = {0x11D0, queue}, reference_count = {0x11D2, uint}, context = {0x11D4, context},
  command_execution_status = {0x11D3, enum({[0] = "complete", "running", "submitted", "queued"}, int)},
  command_type = {0x11D1, enum{
    [0x11F0] = "ndrange_kernel", [0x11F1] = "task", [0x11F2] = "native_kernel", [0x11F3] = "read_buffer",
    [0x11F4] = "write_buffer", [0x11F5] = "copy_buffer", [0x11F6] = "read_image", [0x11F7] = "write_image",
    [0x11F8] = "copy_image", [0x11F9] = "copy_image_to_buffer", [0x11FA] = "copy_buffer_to_image",
    [0x11FB] = "map_buffer", [0x11FC] = "map_image", [0x11FD] = "unmap_mem_object", [0x11FE] = "marker",
    [0x11FF] = "acquire_gl_objects", [0x1200] = "release_gl_objects", [0x1201] = "read_buffer_rect",
    [0x1202] = "write_buffer_rect", [0x1203] = "copy_buffer_rect", [0x1204] = "user", [0x1205] = "barrier",
    [0x1206] = "migrate_mem_objects", [0x1207] = "fill_buffer", [0x1208] = "fill_image",
  }},
}

M.profiling = {
  queued = {0x1280, nanoseconds}, submit = {0x1281, nanoseconds}, start = {0x1282, nanoseconds},
  ["end"] = {0x1283, nanoseconds},
}

-- ---- Running a query. ----

local NOT_KNOWN = {[-30] = true} -- CL_INVALID_VALUE: the driver or this kind of object does not support the query

local function unknown(query, name)
  local names = {}
  for known in pairs(query) do
    names[#names + 1] = known
  end
  table.sort(names)
  status.wrong("get_info: there is no '%s' to ask for; there is %s", tostring(name), table.concat(names, ", "))
end

-- The object being queried. Until they are retained, objects in the result may have no other reference.
local asked

local function answer(...)
  asked = nil
  return ...
end

-- The result of query[name] for the objects that C[call] takes first. Nil if the driver does not support the query,
-- as a driver of OpenCL 1.1 does not support those new in 1.2.
function M.ask(call, query, name, ...)
  local row = query[name] or unknown(query, name)
  local length = ffi.new "size_t[1]"
  local f = C[call]
  local n = select("#", ...)
  local a, b = ...
  local function get(room, bytes)
    if n == 1 then
      return f(a, row[1], room, bytes, length)
    end
    return f(a, b, row[1], room, bytes, length)
  end
  local code = get(0, nil)
  local bytes = ffi.new("cl_ulong[?]", tonumber(length[0]) / 8 + 1) -- for alignment
  if code == 0 then
    code = get(length[0], bytes)
  end
  if NOT_KNOWN[code] then
    return nil
  elseif code ~= 0 then
    status.failed(call, code, name)
  end
  asked = a
  return answer(row[2](bytes, tonumber(length[0])))
end

-- The sum of the named bits: `value` is a name or a list of names.
function M.bits(names, value, what)
  local sum, seen = 0, {}
  for _, name in ipairs(type(value) == "table" and value or {value}) do
    local bit = names[name] or status.wrong("%s: '%s' is none of %s", what, tostring(name), M.names(names))
    if not seen[name] then
      seen[name], sum = true, sum + bit
    end
  end
  return sum
end

-- "a, b, c"
function M.names(set)
  local names = {}
  for name in pairs(set) do
    names[#names + 1] = name
  end
  table.sort(names)
  return table.concat(names, ", ")
end

return M
