-- stdcl/library.lua - the C libraries for LuaJIT's ffi: library "stdcl" is the layer, library "nbody" an engine.
--
-- Inside the command `stdcl` the functions are in the executable. Elsewhere the libraries are loaded: beside
-- $STDCL_LIBRARY if it is set, else from the installation of this file, else by the system's search path.
-- SPDX-License-Identifier: MIT

local ffi = require "ffi"
require "opencl.C" -- for its types
local declarations = require "stdcl.declarations"

-- Paths to try for the library `file`.
local function candidates(file)
  local names = {}
  local here = debug.getinfo(1, "S").source:match "^@(.*)share/stdcl/lua/stdcl/library%.lua$"
  local said = os.getenv "STDCL_LIBRARY"
  if said then
    return {file == "libstdcl.so.1" and said or (said:match "^.*/" or "") .. file}
  elseif here then
    local machine = ({x64 = "x86_64", arm64 = "aarch64"})[ffi.arch] or ffi.arch
    for _, folder in ipairs{"lib", "lib64", "lib/" .. machine .. "-linux-gnu"} do
      names[#names + 1] = here .. folder .. "/" .. file
    end
  end
  names[#names + 1] = file
  names[#names + 1] = file:match "^lib(.*)%.so"
  return names
end

local loaded = {}

return function(room)
  if loaded[room] then
    return loaded[room]
  elseif not declarations[room] then
    error("stdcl: no engine '" .. tostring(room) .. "'", 0)
  end
  ffi.cdef(declarations[room])
  local first = declarations[room]:match "([%w_]+)%("
  if pcall(function() return ffi.C[first] end) then
    loaded[room] = ffi.C
    return ffi.C
  end
  local file = room == "stdcl" and "libstdcl.so.1" or "libstdcl_" .. room .. ".so.1"
  local reason
  for _, name in ipairs(candidates(file)) do
    local ok, library = pcall(ffi.load, name)
    if ok then
      loaded[room] = library
      return library
    end
    reason = library
  end
  error("stdcl: cannot load the library " .. file .. " (" .. reason .. "); set STDCL_LIBRARY to the path of libstdcl.so.1, or "
        .. "run the script with 'stdcl run'", 0)
end
