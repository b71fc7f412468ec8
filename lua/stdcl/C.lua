-- stdcl/C.lua - the layer as LuaJIT's ffi sees it: what lua/stdcl.lua calls of stdcl.h, and the library.
--
-- Inside the command `stdcl` the functions are in the executable. Elsewhere libstdcl is loaded: $STDCL_LIBRARY
-- if that is set, else the one installed beside this file, else the one the system finds.
-- SPDX-License-Identifier: MIT

local ffi = require "ffi"
require "opencl.C" -- for its types

ffi.cdef[[
typedef struct stdcl_context CLCONTEXT;
CLCONTEXT *clcontext_create(const char *, int, size_t, intptr_t *, int);
int clcontext_destroy(CLCONTEXT *);
cl_uint clgetndev(CLCONTEXT *);
cl_device_id clgetdevice(CLCONTEXT *, cl_uint);

void *clmalloc(CLCONTEXT *, size_t, int);
int clfree(void *);
cl_event clmsync(CLCONTEXT *, cl_uint, void *, int);

typedef struct clvalue {
  const char *name;
  int kind;
  union {
    long long integer;
    double number;
    const char *string;
    const struct clvalue *table;
  } as;
} clvalue_t;
void *clopen(CLCONTEXT *, const char *, int);
void *clsopen(CLCONTEXT *, const char *, int);
void *clopentv(CLCONTEXT *, const char *, int, const clvalue_t *);
void *clopen_templatev(CLCONTEXT *, const char *, const char *, size_t, const char *, int, const clvalue_t *);
int clbuild(CLCONTEXT *, void *, const char *, int);
int clclose(CLCONTEXT *, void *);
cl_kernel clsym(CLCONTEXT *, void *, const char *, int);

typedef struct { size_t dim, gtid_offset[4], gtid[4], ltid[4]; } clndrange_t;
struct stdcl_arg {
  size_t size;
  int kind;
  const void *value;
  const char *type;
};
typedef struct { int kind; const char *type, *name; } clarg_info_t;
int clarg_info(cl_kernel, cl_uint, clarg_info_t *);
cl_event clforkv(CLCONTEXT *, cl_uint, cl_kernel, clndrange_t *, int, cl_uint, const struct stdcl_arg *);
cl_event clwait(CLCONTEXT *, cl_uint, int);

struct clprofile_row {
  cl_uint device;
  const char *name;
  int kind;
  size_t count, timed;
  double total, minimum, maximum, bytes, flops, peak_percent;
};
int clprofile(CLCONTEXT *, int);
size_t clprofile_rows(CLCONTEXT *, struct clprofile_row *, size_t);

char *clerror(void);
]]

if pcall(function() return ffi.C.clforkv end) then
  return ffi.C
end

local function candidates()
  local names = {}
  local here = debug.getinfo(1, "S").source:match "^@(.*)share/stdcl/lua/stdcl/C%.lua$"
  if os.getenv "STDCL_LIBRARY" then
    return {os.getenv "STDCL_LIBRARY"}
  elseif here then
    local machine = ({x64 = "x86_64", arm64 = "aarch64"})[ffi.arch] or ffi.arch
    for _, folder in ipairs{"lib", "lib64", "lib/" .. machine .. "-linux-gnu"} do
      names[#names + 1] = here .. folder .. "/libstdcl.so.1"
    end
  end
  names[#names + 1] = "libstdcl.so.1"
  names[#names + 1] = "stdcl"
  return names
end

local reason
for _, name in ipairs(candidates()) do
  local ok, library = pcall(ffi.load, name)
  if ok then
    return library
  end
  reason = library
end
error("stdcl: the library libstdcl cannot be loaded (" .. reason .. "); name it in STDCL_LIBRARY, or run the "
      .. "script with 'stdcl run'", 0)
