-- stdcl.lua - the layer in Lua: memory shared by host and devices, kernels called like functions.
--
--   local stdcl = require "stdcl"
--   local x = stdcl.malloc("float", n)               an array, x[0] to x[n - 1]
--   local k = stdcl.open "scale.cl"                  or OpenCL C itself
--   stdcl.sync(x, "device")                          host -> device
--   k.scale(n, nil, x, 2)                            start it on n work-items
--   stdcl.wait()
--   stdcl.sync(x, "host")                            device -> host
--
-- docs/lua.md is the manual, and include/stdcl.h documents the underlying calls. Devices are numbered as
-- stdcl.devices() lists them, from 1. Errors are Lua errors with the layer's message.
-- SPDX-License-Identifier: MIT

local ffi = require "ffi"
local C = require "stdcl.C"
require "opencl" -- for the methods of devices
local status = require "opencl.status"
local cast, gc, istype, new, sizeof, typeof = ffi.cast, ffi.gc, ffi.istype, ffi.new, ffi.sizeof, ffi.typeof
local type, tonumber, wrong = type, tonumber, status.wrong

status.register()

local stdcl = {}

local WAIT, NOWAIT = C.CL_EVENT_WAIT, C.CL_EVENT_NOWAIT + C.CL_EVENT_CHECKED

-- Raise the layer's error.
local function failed()
  local sentence = C.clerror()
  wrong("%s", sentence ~= nil and ffi.string(sentence) or "stdcl: unknown error")
end

local function is_failure(event)
  return cast("intptr_t", event) == -1
end

-- ---- Devices. ----

local types = {gpu = 4, cpu = 2, acc = 8, all = -1} -- CL_DEVICE_TYPE_ALL, 32 ones in an int
local preferred = {"gpu", "cpu", "all"}

-- The context of `stdcl run --device`.
local current = debug.getregistry()["stdcl.context"]
current = current and cast("CLCONTEXT *", current)

-- Destroy the contexts created here last: the collector finalizes userdata, such as this proxy, after all cdata, such
-- as the arrays and programs of the contexts.
local contexts = {closer = newproxy(true)}
getmetatable(contexts.closer).__gc = function()
  for _, made in ipairs(contexts) do
    C.clcontext_destroy(made)
  end
end

local function adopt(made)
  if made ~= nil then
    current, contexts[#contexts + 1] = made, made
  end
  return made ~= nil
end

-- Chooses the devices for all that follows: "gpu", "cpu", "acc", "all", or part of a device's or its platform's
-- name; at most `count` of them.
function stdcl.use(which, count)
  if type(which) ~= "string" then
    wrong("stdcl.use: \"gpu\", \"cpu\", \"acc\", \"all\" or part of a name is wanted, not a %s", status.kind(which))
  end
  local kind = types[which:lower()]
  if not adopt(C.clcontext_create(not kind and which or nil, kind or types.all, count or 0, nil, 0)) then
    failed()
  end
end

-- The context in use; by default of the first GPU, else the first CPU, else the first device.
local function context()
  for i = 1, current and 0 or #preferred do
    if adopt(C.clcontext_create(nil, types[preferred[i]], 1, nil, 0)) then
      break
    end
  end
  return current or failed()
end

-- The devices in use, objects of the module opencl: stdcl.devices()[1]:get_info "name".
function stdcl.devices()
  local list, cp = {}, context()
  for i = 1, C.clgetndev(cp) do
    list[i] = C.clgetdevice(cp, i - 1)
  end
  return list
end

-- The same as the layer's CLCONTEXT *, for functions of engines.
stdcl.context = context

-- What C returned, or the error that it means: -1 or NULL.
function stdcl.check(result)
  if result == nil or result == -1 then
    failed()
  end
  return result
end

-- The functions and constants of stdcl/NAME.h, as the ffi has them: stdcl.engine("nbody").nbody_create(...).
stdcl.engine = require "stdcl.library"

-- Convert a device number of Lua, from 1, to the layer's, from 0.
local function number(cp, device)
  if device == nil then
    return 0
  elseif type(device) ~= "number" or device < 1 or device > C.clgetndev(cp) or device % 1 ~= 0 then
    wrong("no device %s; the devices in use are numbered 1 to %d", tostring(device), C.clgetndev(cp))
  end
  return device - 1
end

-- The recording under way (stdcl.record), with the values that it keeps alive; nil: none.
local recording

local function keep(value)
  if recording then
    recording.kept[#recording.kept + 1] = value
  end
end

-- ---- Memory. ----

local flag_bits = {zerocopy = C.CL_MEM_ZEROCOPY, device_only = C.CL_MEM_DEVONLY, svm = C.CL_MEM_SVM,
                   [C.CL_MEM_IMAGE] = C.CL_MEM_IMAGE}
local allocated, COLLECT_AFTER = 0, 2^28 -- the collector does not know the sizes of the blocks

local function allocate(size, flags)
  allocated = allocated + size
  if allocated > COLLECT_AFTER then
    allocated = 0
    collectgarbage()
  end
  local p = C.clmalloc(context(), size, flags)
  if p == nil then -- garbage may hold the memory
    collectgarbage()
    collectgarbage()
    p = C.clmalloc(context(), size, flags)
  end
  return p ~= nil and p or failed()
end

-- An array of n elements (default 1) of a C type, shared by host and devices: zeroed on the host, collected like any
-- Lua value. `flag` may be "zerocopy", "device_only" or "svm", see clmalloc.
function stdcl.malloc(ctype, n, flag)
  n = n or 1
  if type(n) ~= "number" or n < 0 or n % 1 ~= 0 then
    wrong("stdcl.malloc: '%s' is not a number of elements", tostring(n))
  elseif flag and not flag_bits[flag] then
    wrong("stdcl.malloc: '%s' is neither \"zerocopy\", \"device_only\" nor \"svm\"", tostring(flag))
  end
  local known, element = pcall(typeof, ctype)
  if not known then
    wrong("stdcl.malloc: '%s' is not a C type", tostring(ctype))
  end
  local p = allocate(n * sizeof(element), flag and flag_bits[flag] or 0)
  local ok, array = pcall(typeof, "$ (&)[$]", element, n) -- supports ffi.sizeof, but only up to 2 GiB
  return gc(cast(ok and array or typeof("$ *", element), p), C.clfree)
end

-- ---- Images and samplers. ----

ffi.cdef [[
struct stdcl_lua_image_format { uint32_t order, type; };
struct stdcl_lua_image { uint32_t type; size_t width, height, depth, elements, row, slice; uint32_t levels, samples; void *buffer; };
]]

-- OpenCL's numbers: channel orders by count, channel types by name, image types by dimensions.
local orders = {[1] = 0x10B0, [2] = 0x10B2, [4] = 0x10B5}
local channels = {char = 0x10D7, short = 0x10D8, int = 0x10D9, uchar = 0x10DA, ushort = 0x10DB, uint = 0x10DC, float = 0x10DE}
local normalized = {char = 0x10D0, short = 0x10D1, uchar = 0x10D2, ushort = 0x10D3}
local image_types, array_types = {0x10F4, 0x10F1, 0x10F2}, {0x10F5, 0x10F3}
local addressings = {none = 0x1130, clamp_to_edge = 0x1131, clamp = 0x1132, ["repeat"] = 0x1133, mirrored_repeat = 0x1134}
local filters = {nearest = 0x1140, linear = 0x1141}

local function image_format(pixel, options)
  local name, n = pixel:match "^cl_(%l+)(%d*)$"
  local kinds = options.normalized and normalized or channels
  local order = orders[tonumber(n) or 1]
  if not name or not kinds[name] or not order then
    wrong("stdcl.image: '%s' is no pixel%s; expected cl_float4, cl_uchar4, cl_ushort, ... of 1, 2 or 4 channels", tostring(pixel),
          options.normalized and " of normalized integers" or "")
  end
  return new("struct stdcl_lua_image_format", order, kinds[name])
end

-- An image of pixels such as "cl_float4" or "cl_uchar", zeroed: an array with the pixels row by row, for arguments
-- declared image1d_t, image2d_t, ... `size` is a list {width [, height [, depth]]}. options.array = true: the last size
-- counts the images of an array; options.normalized = true: kernels read the integers as floats.
function stdcl.image(pixel, size, options)
  options = options or {}
  local types, dimensions = options.array and array_types or image_types, #size - (options.array and 1 or 0)
  local format = image_format(pixel, options)
  if not types[dimensions] then
    wrong("stdcl.image: no %simage has %d sizes", options.array and "array of an " or "", #size)
  end
  local inner = {size[1], dimensions > 1 and size[2] or 0, dimensions > 2 and size[3] or 0}
  local shape = new("struct stdcl_lua_image", types[dimensions], inner[1], inner[2], inner[3], options.array and size[#size] or 0)
  local image = stdcl.malloc(pixel, size[1] * (size[2] or 1) * (size[3] or 1), C.CL_MEM_IMAGE)
  if C.clmctl(image, C.CL_MCTL_SET_IMAGE, shape, format) ~= 0 then
    failed()
  end
  return image
end

-- A sampler, for arguments declared sampler_t. options.normalized = true: coordinates from 0 to 1; options.addressing:
-- "clamp_to_edge" (default), "none", "clamp", "repeat", "mirrored_repeat"; options.filter: "nearest" (default), "linear".
function stdcl.sampler(options)
  options = options or {}
  local addressing, filter = addressings[options.addressing or "clamp_to_edge"], filters[options.filter or "nearest"]
  if not addressing or not filter then
    wrong("stdcl.sampler: no %s", not filter and ("filter '%s'"):format(tostring(options.filter))
          or ("addressing '%s'"):format(tostring(options.addressing)))
  end
  local sampler = gc(allocate(0, C.CL_MEM_SAMPLER), C.clfree)
  if C.clmctl(sampler, C.CL_MCTL_SET_SAMPLER, new("int", options.normalized and 1 or 0), new("int", addressing),
              new("int", filter)) ~= 0 then
    failed()
  end
  return sampler
end

-- ---- Copies and waits. ----

local function expect_array(array, call)
  if type(array) ~= "cdata" then
    wrong("stdcl.%s: expected an array of stdcl.malloc, not a %s", call, status.kind(array))
  end
end

-- Free an array now. Do not use it afterwards.
function stdcl.free(array)
  expect_array(array, "free")
  if C.clfree(gc(array, nil)) ~= 0 then
    failed()
  end
end

-- Copy an array to the "device" or to the "host"; block until done unless "nowait" is given, or in a recording.
function stdcl.sync(array, where, device, nowait)
  local cp = context()
  local flag = where == "device" and C.CL_MEM_DEVICE or where == "host" and C.CL_MEM_HOST
    or wrong("stdcl.sync: expected \"device\" or \"host\", not '%s'", tostring(where))
  expect_array(array, "sync")
  keep(array)
  if is_failure(C.clmsync(cp, number(cp, device), array, flag + ((nowait == "nowait" or recording) and NOWAIT or WAIT))) then
    failed()
  end
end

-- Block until all commands on one device or on all devices are complete.
function stdcl.wait(device)
  local cp = context()
  local first = number(cp, device)
  for dev = first, device and first or C.clgetndev(cp) - 1 do
    if is_failure(C.clwait(cp, dev, 0)) then
      failed()
    end
  end
end

-- ---- Values of templates. ----

local INTEGER, NUMBER, BOOLEAN, STRING, TABLE = 1, 3, 4, 5, 6 -- enum stdcl_value_kind

local to_values

local function to_value(item, value, name, alive)
  local kind = type(value)
  if kind == "number" and value % 1 == 0 and math.abs(value) < 2^63 then
    item.kind, item.as.integer = INTEGER, value
  elseif kind == "number" then
    item.kind, item.as.number = NUMBER, value
  elseif kind == "boolean" then
    item.kind, item.as.integer = BOOLEAN, value and 1 or 0
  elseif kind == "string" then
    item.kind, item.as.string = STRING, value
  elseif kind == "table" then
    item.kind, item.as.table = TABLE, to_values(value, alive)
  elseif kind == "cdata" and tonumber(value) then
    item.kind, item.as.integer = INTEGER, value
  else
    wrong("stdcl.open: the value '%s' is a %s, which templates do not support", tostring(name), status.kind(value))
  end
end

-- Convert a Lua table to the layer's list of values; `alive` keeps the memory that the list points to.
function to_values(values, alive)
  local n = 0
  for _ in pairs(values) do
    n = n + 1
  end
  local list = new("clvalue_t[?]", n + 1)
  alive[#alive + 1], alive[#alive + 2] = list, values
  local i = 0
  local function add(name, value)
    list[i].name = type(name) == "string" and name or nil
    to_value(list[i], value, name, alive)
    i = i + 1
  end
  for _, value in ipairs(values) do
    add(nil, value)
  end
  for name, value in pairs(values) do
    if type(name) == "string" then
      add(name, value)
    elseif not (type(name) == "number" and name >= 1 and name <= #values and name % 1 == 0) then
      wrong("stdcl.open: the key '%s' is neither a name nor the next index of a list", tostring(name))
    end
  end
  return list
end

-- ---- Programs. ----

local new_kernel

-- program.NAME is the kernel NAME.
local Program = {}

function Program.__index(program, name)
  local handle, cp = rawget(program, 1), rawget(program, 2)
  local kernel = C.clsym(cp, handle, tostring(name), 0)
  if kernel == nil then
    failed()
  end
  program[name] = new_kernel(program, cp, kernel, name)
  return program[name]
end

local function open(cp, text, values, flags)
  local is_source = text:find("[\n{]") ~= nil
  if not values then
    return (is_source and C.clsopen or C.clopen)(cp, text, flags)
  end
  local alive = {}
  local list = to_values(values, alive)
  local handle
  if is_source then
    handle = C.clopen_templatev(cp, "template", text, #text, nil, flags, list)
  else
    handle = C.clopentv(cp, text, flags, list)
  end
  return handle, alive
end

-- Open kernels. `text` is OpenCL C if it has several lines or a brace, otherwise a file name. With `values`, a table,
-- it is a template. `options` are compiler options. The program's fields are its kernels.
function stdcl.open(text, values, options)
  if type(text) ~= "string" then
    wrong("stdcl.open: expected OpenCL C or a file name, not a %s", status.kind(text))
  end
  if options and type(options) ~= "string" then
    wrong("stdcl.open: the options are a string, not a %s", status.kind(options))
  end
  local cp = context()
  local handle = open(cp, text, values, options and C.CLLD_NOBUILD or C.CLLD_NOW)
  if handle == nil then
    failed()
  end
  handle = gc(handle, function(h) C.clclose(cp, h) end)
  if options and C.clbuild(cp, handle, cast("char *", options), 0) ~= 0 then
    failed()
  end
  return setmetatable({handle, cp}, Program)
end

-- ---- Arguments of kernels. ----

local VALUE, GLOBAL, LOCAL = 0, 1, 2 -- enum stdcl_arg_kind

local integers = {char = true, uchar = true, short = true, ushort = true, int = true, uint = true, long = true,
                  ulong = true}
local scalars = {float = true, double = true}

-- Each function below returns a function that stores a Lua value in args[i]. `what` names the argument in errors.

local function put_integer(arg, name, what)
  local box = new("cl_" .. name .. "[1]")
  arg.size, arg.kind, arg.value = sizeof(box), VALUE, box
  return function(value)
    if type(value) ~= "number" and type(value) ~= "cdata" then
      wrong("%s is declared as %s, not a %s", what, name, type(value))
    end
    box[0] = value
    if box[0] ~= value then
      wrong("%s is declared as %s, which cannot hold %s", what, name, tostring(value))
    end
  end, box
end

local function put_real(arg, name, what)
  local box = new("cl_" .. name .. "[1]")
  arg.size, arg.kind, arg.value = sizeof(box), VALUE, box
  return function(value)
    if type(value) ~= "number" and type(value) ~= "cdata" then
      wrong("%s is declared as %s, not a %s", what, name, type(value))
    end
    box[0] = value
  end, box
end

local function put_vector(arg, name, what, n)
  local whole = integers[name:match "%l+"]
  local box = new("cl_" .. name .. "[1]")
  arg.size, arg.kind, arg.value = sizeof(box), VALUE, box
  return function(value)
    if istype(typeof(box[0]), value) then
      box[0] = value
    elseif type(value) == "table" and #value == n then
      for i = 1, n do
        box[0].s[i - 1] = value[i]
        if whole and box[0].s[i - 1] ~= value[i] then
          wrong("%s is declared as %s, which cannot hold %s", what, name, tostring(value[i]))
        end
      end
    else
      wrong("%s is declared as %s: expected a table of %d numbers or a cl_%s", what, name, n, name)
    end
  end, box
end

local function put_local(arg, name, what)
  local box = new "size_t[1]"
  arg.size, arg.kind, arg.value = sizeof(box), LOCAL, box
  return function(value)
    if type(value) ~= "number" or value < 1 then
      wrong("%s is local memory (%s): expected its number of bytes", what, name)
    end
    box[0] = value
  end, box
end

-- OpenCL's names of pointers, by the ffi's names of their elements. Bytes, structs and vectors have none: they pass for
-- every pointer.
local pointers = {float = "float*", double = "double*", short = "short*", ["unsigned short"] = "ushort*", int = "int*",
                  ["unsigned int"] = "uint*", int64_t = "long*", uint64_t = "ulong*"}

local pointer_names = {} -- by the number of a ctype; false: none

-- The name of an array's or a pointer's type, or nil.
local function pointer_name(value)
  local ctype = typeof(value)
  local id = tonumber(ctype)
  local name = pointer_names[id]
  if name == nil then
    local element = tostring(ctype):match "^ctype<([%l%d_ ]-) ?%(?[%*&]" or ""
    name = pointers[(element:gsub("const ", ""))] or false
    pointer_names[id] = name
  end
  return name or nil
end

local function put_pointer(arg, name, what)
  local box, held = new "void *[1]", nil
  arg.value = box
  return function(value)
    held = value -- the collector does not look into the box
    if type(value) ~= "cdata" then
      wrong("%s is declared as %s: expected an array of stdcl.malloc, not a %s", what, name, type(value))
    end
    if value == nil and not istype("void *", value) then
      wrong("%s is declared as %s: got a null pointer (pass a null void * if intended)", what, name)
    end
    local is_mem = istype("cl_mem", value)
    arg.size, arg.kind = sizeof(box), is_mem and VALUE or GLOBAL
    arg.type = is_mem and "cl_mem" or pointer_name(value)
    box[0] = cast("void *", value)
    keep(value)
  end, box
end

-- A type defined by the kernel.
local function put_cdata(arg, name, what)
  local box = {}
  return function(value)
    if type(value) ~= "cdata" or tonumber(value) then
      wrong("%s is declared as %s: expected a cdata, not a %s", what, name, type(value))
    end
    arg.size, arg.kind, arg.value = sizeof(value), VALUE, value
    box[1] = value
  end, box
end

-- An unknown type, for instance a macro: pointers are memory, everything else is a value.
local function put_unknown(arg, name, what)
  local as_pointer, pointer_box = put_pointer(arg, name, what)
  local as_value, value_box = put_cdata(arg, name, what)
  return function(value)
    local ctype = type(value) == "cdata" and tostring(typeof(value)) or ""
    if ctype:find "&" or ctype:find "%*" and not ctype:find "%[" then
      arg.value = pointer_box
      as_pointer(value)
    else
      as_value(value)
    end
  end, {pointer_box, value_box}
end

local arg_info = new "clarg_info_t[1]"

-- The function for argument i of a kernel, by its declaration.
local function put_argument(kernel, i, arg, kernel_name)
  if C.clarg_info(kernel, i, arg_info) ~= 0 then
    failed()
  end
  local kind, name, called = arg_info[0].kind, ffi.string(arg_info[0].type), ffi.string(arg_info[0].name)
  local what = ("argument %d%s of kernel '%s'"):format(i, called ~= "" and " (" .. called .. ")" or "", kernel_name)
  local scalar, n = name:match "^(%l+)(%d+)$"
  if kind == GLOBAL or name == "sampler_t" then
    return put_pointer(arg, name, what)
  elseif kind == LOCAL then
    return put_local(arg, name, what)
  elseif kind ~= VALUE then
    return put_unknown(arg, name ~= "" and name or "an unknown type", what)
  elseif integers[name] then
    return put_integer(arg, name, what)
  elseif scalars[name] then
    return put_real(arg, name, what)
  elseif scalar and (integers[scalar] or scalars[scalar]) then
    return put_vector(arg, name, what, tonumber(n))
  end
  return put_cdata(arg, name, what)
end

-- ---- Launches. ----

local function whole_size(size, what)
  local n = tonumber(size)
  if type(size) == "string" or not n or n < 0 or n % 1 ~= 0 then
    wrong("the %s size %s is not a whole number", what, tostring(size))
  end
  return size
end

-- Store sizes: a number, or a list of up to three.
local function set_sizes(to, sizes, what)
  if type(sizes) == "number" then
    to[0] = whole_size(sizes, what)
    return 1
  elseif type(sizes) ~= "table" or #sizes < 1 or #sizes > 3 then
    wrong("the %s size is a %s; expected a number or a list of up to three", what, status.kind(sizes))
  end
  for i = 1, #sizes do
    to[i - 1] = whole_size(sizes[i], what)
  end
  return #sizes
end

local function set_range(range, global, group)
  range.dim = set_sizes(range.gtid, global, "global")
  if group == nil then
    range.ltid[0] = 0 -- the runtime chooses
  elseif set_sizes(range.ltid, group, "local") ~= range.dim then
    wrong("the local size must have as many dimensions as the global one")
  end
end

local Kernel = {}
Kernel.__index = Kernel

-- The program of the kernel being called: in stdcl.open(text).name(n) nothing else holds it.
local busy

-- Code that stores the arguments and starts the kernel, unrolled for the number of arguments for speed.
local CALL = [[
local count, start, ${put} = ...
return function(self, device, global, group, ${values} ...)
  count(select("#", ...))
  ${calls}
  return start(device, global, group)
end]]

local function each(n, pattern)
  local items = {}
  for i = 1, n do
    items[i] = pattern:gsub("#", tostring(i))
  end
  return table.concat(items)
end

function new_kernel(program, cp, kernel, name)
  local n = kernel:get_info "num_args"
  local args, range = new("struct stdcl_arg[?]", n + 1), new "clndrange_t"
  local self = {name = name, program = program, put = {}, boxes = {}, args = args, count = n}
  for i = 1, n do
    self.put[i], self.boxes[i] = put_argument(kernel, i - 1, args[i - 1], name)
  end
  local function count(beyond)
    busy = program
    if beyond > 0 then
      wrong("kernel '%s' takes %d arguments, not %d", name, n, n + beyond)
    end
  end
  local function start(device, global, group)
    set_range(range, global, group)
    if recording then
      recording.kernels[C.clrecord_next(cp, device and number(cp, device) or 0)] = self
    end
    if is_failure(C.clforkv(cp, device and number(cp, device) or 0, kernel, range, NOWAIT, n, args)) then
      failed()
    end
  end
  local text = CALL:gsub("%${(%w+)}", {put = each(n, "p#, ") .. "_", values = each(n, "a#, "),
                                       calls = each(n, "p#(a#) ")})
  self.launch = assert(loadstring(text, "=stdcl.lua"))(count, start, unpack(self.put, 1, n))
  return setmetatable(self, Kernel)
end

-- kernel(global, local, arguments...) starts the kernel on the first device, kernel:launch(device, global, ...) on any
-- device. Does not block.
function Kernel:__call(global, group, ...)
  return self.launch(self, nil, global, group, ...)
end

-- ---- Recordings. ----

local Recording = {}
Recording.__index = Recording

-- Record the launches and copies on a device that commands() makes, instead of starting them. Waits are errors.
function stdcl.record(commands, device)
  local cp = context()
  local dev, outer = number(cp, device), recording
  if C.clrecord_begin(cp, dev) ~= 0 then
    failed()
  end
  local made = setmetatable({cp = cp, kernels = {}, kept = {}}, Recording)
  recording = made
  local ok, problem = pcall(commands)
  recording = outer
  local handle = C.clrecord_end(cp, dev)
  if not ok then
    C.clrecord_free(cp, handle)
    error(problem, 0)
  elseif handle == nil then
    failed()
  end
  made.handle = gc(handle, function(ended) C.clrecord_free(cp, ended) end)
  return made
end

-- Start the recorded commands without waiting.
function Recording:replay()
  if is_failure(C.clrecord_replay(self.cp, self.handle, NOWAIT)) then
    failed()
  end
end

-- Set argument i, from 0, of a recorded launch for later replays. Commands are numbered from 0.
function Recording:set(command, i, value)
  local kernel = self.kernels[command]
  if not kernel then
    wrong("recording:set: command %s is no launch", tostring(command))
  elseif not kernel.put[i + 1] then
    wrong("recording:set: kernel '%s' has no argument %s", kernel.name, tostring(i))
  end
  kernel.put[i + 1](value)
  self.kept[#self.kept + 1] = value
  if C.clrecord_setv(self.cp, self.handle, command, i, kernel.args + i) ~= 0 then
    failed()
  end
end

-- ---- Profiles. ----

-- profile(true) and profile(false) turn profiling on and off; profile() returns the profile, a list of
-- {device =, name =, kind = "kernel" or "memory", count =, timed =, total =, minimum =, maximum =, bytes =, flops =}
-- with times in seconds.
function stdcl.profile(on)
  local cp = context()
  if on ~= nil then
    if C.clprofile(cp, on and 1 or 0) ~= 0 then
      failed()
    end
    return
  end
  local rows = new("struct clprofile_row[?]", tonumber(C.clprofile_rows(cp, nil, 0)) + 1)
  local list = {}
  for i = 1, tonumber(C.clprofile_rows(cp, rows, sizeof(rows) / sizeof "struct clprofile_row")) do
    local row = rows[i - 1]
    list[i] = {
      device = row.device + 1, name = ffi.string(row.name), kind = row.kind == 0x10 and "kernel" or "memory",
      count = tonumber(row.count), timed = tonumber(row.timed), total = row.total, minimum = row.minimum, maximum = row.maximum,
      bytes = row.bytes, flops = row.flops,
    }
  end
  return list
end

return stdcl
