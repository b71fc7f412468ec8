-- opencl/C.lua - OpenCL as LuaJIT's ffi sees it: the types of CL/cl_platform.h, the functions, the library.
--
--   local C = require "opencl.C"       C.clGetPlatformIDs and so on
--   ffi.sizeof "cl_double3"            32, as in C
--
-- Uses the library already in the process, as inside the command `stdcl`; otherwise loads it.
-- SPDX-License-Identifier: MIT

local ffi = require "ffi"
local concat, format = table.concat, string.format

-- ---- Scalars and vectors. ----

local scalars = {
  {"char", "int8_t", 1}, {"uchar", "uint8_t", 1}, {"short", "int16_t", 2}, {"ushort", "uint16_t", 2},
  {"int", "int32_t", 4}, {"uint", "uint32_t", 4}, {"long", "int64_t", 8}, {"ulong", "uint64_t", 8},
  {"half", "uint16_t", 2}, {"float", "float", 4}, {"double", "double", 8},
}

-- The names s0 .. s9, sA .. sF of the first n components; `digits` holds the sixteen suffixes.
local function numbered(n, digits)
  local names = {}
  for i = 1, n do
    names[i] = "s" .. digits:sub(i, i)
  end
  return concat(names, ", ")
end

-- A vector is a union of an array, for the alignment, and of its named components.
local function vector(name, n, size)
  local members = {
    format("%s __attribute__((aligned(%d))) s[%d];", name, n * size, n),
    format("struct { %s %s; };", name, n == 2 and "x, y" or "x, y, z, w"),
    format("struct { %s %s; };", name, numbered(n, "0123456789ABCDEF")),
    format("struct { %s%s lo, hi; };", name, n > 2 and n / 2 or ""),
  }
  if n == 16 then -- lower-case suffixes, too
    members[5] = format("struct { %s low_[10]; %s sa, sb, sc, sd, se, sf; };", name, name)
  end
  return format("typedef union { %s } %s%d;\n", concat(members, " "), name, n)
end

local types = {}
for _, scalar in ipairs(scalars) do
  local name, c, size = "cl_" .. scalar[1], scalar[2], scalar[3]
  types[#types + 1] = format("typedef %s %s __attribute__((aligned(%d)));\n", c, name, size)
  for _, n in ipairs{2, 4, 8, 16} do
    types[#types + 1] = vector(name, n, size)
  end
  types[#types + 1] = format("typedef %s4 %s3;\n", name, name) -- cl_NAME3 is cl_NAME4, as in C
end
ffi.cdef(concat(types))

-- ---- Objects and functions. ----

ffi.cdef[[
typedef unsigned int cl_GLuint;
typedef int cl_GLint;
typedef unsigned int cl_GLenum;

typedef cl_uint cl_bool;
typedef cl_ulong cl_bitfield;
typedef struct _cl_platform_id *cl_platform_id;
typedef struct _cl_device_id *cl_device_id;
typedef struct _cl_context *cl_context;
typedef struct _cl_command_queue *cl_command_queue;
typedef struct _cl_mem *cl_mem;
typedef struct _cl_program *cl_program;
typedef struct _cl_kernel *cl_kernel;
typedef struct _cl_event *cl_event;
typedef struct _cl_sampler *cl_sampler;
typedef struct { size_t origin, size; } cl_buffer_region;

cl_int clGetPlatformIDs(cl_uint, cl_platform_id *, cl_uint *);
cl_int clGetPlatformInfo(cl_platform_id, cl_uint, size_t, void *, size_t *);

cl_int clGetDeviceIDs(cl_platform_id, cl_bitfield, cl_uint, cl_device_id *, cl_uint *);
cl_int clGetDeviceInfo(cl_device_id, cl_uint, size_t, void *, size_t *);
cl_int clCreateSubDevices(cl_device_id, const intptr_t *, cl_uint, cl_device_id *, cl_uint *);
cl_int clRetainDevice(cl_device_id);
cl_int clReleaseDevice(cl_device_id);

cl_context clCreateContext(const intptr_t *, cl_uint, const cl_device_id *,
                           void (*)(const char *, const void *, size_t, void *), void *, cl_int *);
cl_int clGetContextInfo(cl_context, cl_uint, size_t, void *, size_t *);
cl_int clRetainContext(cl_context);
cl_int clReleaseContext(cl_context);

cl_command_queue clCreateCommandQueue(cl_context, cl_device_id, cl_bitfield, cl_int *);
cl_int clGetCommandQueueInfo(cl_command_queue, cl_uint, size_t, void *, size_t *);
cl_int clRetainCommandQueue(cl_command_queue);
cl_int clReleaseCommandQueue(cl_command_queue);
cl_int clFlush(cl_command_queue);
cl_int clFinish(cl_command_queue);

cl_mem clCreateBuffer(cl_context, cl_bitfield, size_t, void *, cl_int *);
cl_mem clCreateSubBuffer(cl_mem, cl_bitfield, cl_uint, const void *, cl_int *);
cl_int clGetMemObjectInfo(cl_mem, cl_uint, size_t, void *, size_t *);
cl_int clRetainMemObject(cl_mem);
cl_int clReleaseMemObject(cl_mem);

cl_program clCreateProgramWithSource(cl_context, cl_uint, const char **, const size_t *, cl_int *);
cl_int clBuildProgram(cl_program, cl_uint, const cl_device_id *, const char *,
                      void (*)(cl_program, void *), void *);
cl_int clGetProgramInfo(cl_program, cl_uint, size_t, void *, size_t *);
cl_int clGetProgramBuildInfo(cl_program, cl_device_id, cl_uint, size_t, void *, size_t *);
cl_int clRetainProgram(cl_program);
cl_int clReleaseProgram(cl_program);

cl_kernel clCreateKernel(cl_program, const char *, cl_int *);
cl_int clCreateKernelsInProgram(cl_program, cl_uint, cl_kernel *, cl_uint *);
cl_int clSetKernelArg(cl_kernel, cl_uint, size_t, const void *);
cl_int clGetKernelInfo(cl_kernel, cl_uint, size_t, void *, size_t *);
cl_int clGetKernelArgInfo(cl_kernel, cl_uint, cl_uint, size_t, void *, size_t *);
cl_int clGetKernelWorkGroupInfo(cl_kernel, cl_device_id, cl_uint, size_t, void *, size_t *);
cl_int clReleaseKernel(cl_kernel);

cl_int clEnqueueNDRangeKernel(cl_command_queue, cl_kernel, cl_uint, const size_t *, const size_t *,
                              const size_t *, cl_uint, const cl_event *, cl_event *);
void *clEnqueueMapBuffer(cl_command_queue, cl_mem, cl_bool, cl_bitfield, size_t, size_t, cl_uint,
                         const cl_event *, cl_event *, cl_int *);
cl_int clEnqueueUnmapMemObject(cl_command_queue, cl_mem, void *, cl_uint, const cl_event *, cl_event *);
cl_int clEnqueueReadBuffer(cl_command_queue, cl_mem, cl_bool, size_t, size_t, void *, cl_uint,
                           const cl_event *, cl_event *);
cl_int clEnqueueWriteBuffer(cl_command_queue, cl_mem, cl_bool, size_t, size_t, const void *, cl_uint,
                            const cl_event *, cl_event *);
cl_int clEnqueueCopyBuffer(cl_command_queue, cl_mem, cl_mem, size_t, size_t, size_t, cl_uint,
                           const cl_event *, cl_event *);
cl_int clEnqueueFillBuffer(cl_command_queue, cl_mem, const void *, size_t, size_t, size_t, cl_uint,
                           const cl_event *, cl_event *);
cl_int clEnqueueMarkerWithWaitList(cl_command_queue, cl_uint, const cl_event *, cl_event *);
cl_int clEnqueueBarrierWithWaitList(cl_command_queue, cl_uint, const cl_event *, cl_event *);

cl_int clWaitForEvents(cl_uint, const cl_event *);
cl_int clGetEventInfo(cl_event, cl_uint, size_t, void *, size_t *);
cl_int clGetEventProfilingInfo(cl_event, cl_uint, size_t, void *, size_t *);
cl_int clRetainEvent(cl_event);
cl_int clReleaseEvent(cl_event);
]]

-- ---- The library. ----

if pcall(function() return ffi.C.clGetPlatformIDs end) then
  return ffi.C
end

local names = {"libOpenCL.so.1", "OpenCL"}
if ffi.os == "OSX" then
  names = {"/System/Library/Frameworks/OpenCL.framework/OpenCL", "libOpenCL.dylib"}
end
local reason
for _, name in ipairs(names) do
  local ok, library = pcall(ffi.load, name)
  if ok then
    return library
  end
  reason = reason or library
end
error("opencl: cannot load an OpenCL library (" .. reason .. "); install an OpenCL loader, such as "
      .. "ocl-icd, and a device's driver, such as PoCL", 0)
