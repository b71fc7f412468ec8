-- opencl/status.lua - Lua errors with the script's line, the call, the code and its meaning.
--
--   script.lua:12: clCreateKernel: CL_INVALID_KERNEL_NAME (-46): the program has no kernel of this name: 'smu'
--
-- SPDX-License-Identifier: MIT

local ffi = require "ffi"
local getinfo = debug.getinfo

local M = {}

local codes = {
  [-1] = {"DEVICE_NOT_FOUND", "there is no such device"},
  [-2] = {"DEVICE_NOT_AVAILABLE", "the device is not available"},
  [-3] = {"COMPILER_NOT_AVAILABLE", "the device has no compiler"},
  [-4] = {"MEM_OBJECT_ALLOCATION_FAILURE", "the device's memory is exhausted"},
  [-5] = {"OUT_OF_RESOURCES", "the device's resources are exhausted, or a kernel failed"},
  [-6] = {"OUT_OF_HOST_MEMORY", "the host's memory is exhausted"},
  [-7] = {"PROFILING_INFO_NOT_AVAILABLE",
          "create the queue with \"profiling\", and wait for the event before asking for its times"},
  [-8] = {"MEM_COPY_OVERLAP", "source and destination overlap"},
  [-11] = {"BUILD_PROGRAM_FAILURE", "the program does not compile"},
  [-12] = {"MAP_FAILURE", "the buffer cannot be mapped"},
  [-13] = {"MISALIGNED_SUB_BUFFER_OFFSET", "the device cannot start a buffer at this origin"},
  [-14] = {"EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST", "a command that was waited for has failed"},
  [-15] = {"COMPILE_PROGRAM_FAILURE", "the program does not compile"},
  [-16] = {"LINKER_NOT_AVAILABLE", "the device has no linker"},
  [-17] = {"LINK_PROGRAM_FAILURE", "the program does not link"},
  [-18] = {"DEVICE_PARTITION_FAILED", "the device cannot be partitioned further"},
  [-19] = {"KERNEL_ARG_INFO_NOT_AVAILABLE", "build the program with -cl-kernel-arg-info"},
  [-30] = {"INVALID_VALUE", "a value is out of its range"},
  [-31] = {"INVALID_DEVICE_TYPE", "the device type is unknown"},
  [-32] = {"INVALID_PLATFORM", "not a platform"},
  [-33] = {"INVALID_DEVICE", "not a device, or not one of this context, program or platform"},
  [-34] = {"INVALID_CONTEXT", "the objects belong to different contexts"},
  [-35] = {"INVALID_QUEUE_PROPERTIES", "the device does not support these queue properties"},
  [-36] = {"INVALID_COMMAND_QUEUE", "not a command queue"},
  [-37] = {"INVALID_HOST_PTR", "flags and host pointer do not go together"},
  [-38] = {"INVALID_MEM_OBJECT", "not a memory object, or one that this does not work with"},
  [-41] = {"INVALID_SAMPLER", "not a sampler"},
  [-42] = {"INVALID_BINARY", "the binary is not for this device"},
  [-43] = {"INVALID_BUILD_OPTIONS", "the compiler does not understand the options"},
  [-44] = {"INVALID_PROGRAM", "not a program"},
  [-45] = {"INVALID_PROGRAM_EXECUTABLE", "the program is not built for this device; call program:build()"},
  [-46] = {"INVALID_KERNEL_NAME", "the program has no kernel of this name"},
  [-47] = {"INVALID_KERNEL_DEFINITION", "devices differ about the kernel's arguments"},
  [-48] = {"INVALID_KERNEL", "not a kernel"},
  [-49] = {"INVALID_ARG_INDEX", "the kernel has no such argument; indices begin at 0"},
  [-50] = {"INVALID_ARG_VALUE", "the value does not fit the argument"},
  [-51] = {"INVALID_ARG_SIZE", "the value's size is not that of the argument"},
  [-52] = {"INVALID_KERNEL_ARGS", "not all arguments of the kernel are set"},
  [-53] = {"INVALID_WORK_DIMENSION", "the device does not support so many dimensions"},
  [-54] = {"INVALID_WORK_GROUP_SIZE",
           "the local size is too large, does not divide the global size, or is not the one the kernel requires"},
  [-55] = {"INVALID_WORK_ITEM_SIZE", "the local size is too large in one dimension"},
  [-56] = {"INVALID_GLOBAL_OFFSET", "offset and global size exceed what the device can count"},
  [-57] = {"INVALID_EVENT_WAIT_LIST", "the list of events to wait for holds something else"},
  [-58] = {"INVALID_EVENT", "not an event of this kind"},
  [-59] = {"INVALID_OPERATION", "the object does not allow this"},
  [-61] = {"INVALID_BUFFER_SIZE", "the size is 0, or more than a device can allocate"},
  [-63] = {"INVALID_GLOBAL_WORK_SIZE", "a global size is 0 or too large"},
  [-64] = {"INVALID_PROPERTY", "a property is unknown or given twice"},
  [-66] = {"INVALID_COMPILER_OPTIONS", "the compiler does not understand the options"},
  [-67] = {"INVALID_LINKER_OPTIONS", "the linker does not understand the options"},
  [-68] = {"INVALID_DEVICE_PARTITION_COUNT", "the device cannot be partitioned into these counts"},
  [-1001] = {"PLATFORM_NOT_FOUND_KHR", "no OpenCL driver is installed"},
}

-- ---- The script's position. ----

local modules = {} -- sources of modules: their lines mean nothing to a script's author

-- Register the source of a module; each of its files calls this when loaded.
function M.register(level)
  modules[getinfo((level or 1) + 1, "S").source] = true
end
M.register()

-- "script.lua:12: " for the innermost line outside the modules.
local function place()
  for level = 2, 50 do
    local at = getinfo(level, "Sl")
    if not at then
      break
    elseif at.currentline > 0 and not modules[at.source] then
      return at.short_src .. ":" .. at.currentline .. ": "
    end
  end
  return ""
end

-- ---- Raising. ----

-- Raise an error of the script, such as an invalid value.
function M.wrong(...)
  return error(place() .. string.format(...), 0)
end

-- Raise the error of a call that returned a code; `detail`, which may be nil, names the object.
function M.failed(call, status, detail)
  local code = codes[status]
  local text = ("%s: %s (%d)"):format(call, code and "CL_" .. code[1] or "an unknown OpenCL error", status)
  text = code and text .. ": " .. code[2] or text
  return error(place() .. (detail and text .. ": " .. detail or text), 0)
end

-- Describe the type of a value.
function M.kind(value)
  return type(value) == "cdata" and tostring(ffi.typeof(value)):match("^ctype<(.*)>$") or type(value)
end

return M
