-- test_lua_check.lua - helpers of the tests in Lua: named tests, comparisons, a count, the exit
-- status.
-- SPDX-License-Identifier: MIT
local M = {}
local passed, failures = 0, 0

-- The first device of the first platform that has one; without one the test is skipped.
function M.first_device()
  for _, platform in ipairs(require "opencl".get_platforms()) do
    local device = platform:get_devices()[1]
    if device then
      return device, platform
    end
  end
  print "there is no OpenCL device"
  os.exit(77)
end

-- Run a test; the remaining tests run even if it fails.
function M.test(name, f)
  local ok, message = xpcall(f, function(m) return debug.traceback(tostring(m), 2) end)
  if ok then
    passed = passed + 1
  else
    failures = failures + 1
    print(("FAILED %s: %s"):format(name, message))
  end
end

function M.equal(got, wanted, what)
  if got ~= wanted then
    error(("%s: wanted %s, got %s"):format(what or "value", tostring(wanted), tostring(got)), 2)
  end
end

-- f(...) must raise a string that holds each of the patterns' texts (plain).
function M.raises(texts, f, ...)
  local ok, message = pcall(f, ...)
  if ok then
    error("no error was raised", 2)
  end
  for _, text in ipairs(type(texts) == "table" and texts or {texts}) do
    if type(message) ~= "string" or not message:find(text, 1, true) then
      error(("wanted an error with '%s', got: %s"):format(text, tostring(message)), 2)
    end
  end
end

function M.finish()
  print(("%d passed, %d failed"):format(passed, failures))
  os.exit(failures == 0 and passed > 0 and 0 or 1, true) -- closes the state: finalizers run
end

return M
