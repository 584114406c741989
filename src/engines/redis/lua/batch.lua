--[[
  Runs one operation for each item of a batch. The failure of one item does not affect the others. It is appended to the
  file of an operation, available here as `operation`, and to `KEYS_PER_ITEM` and `KEY_TYPES`, the types that the keys
  of an item must have, if they are known.

  Input
    KEYS  KEYS_PER_ITEM keys for each item, item by item, all of one slot
    ARGV  for each item: its number of arguments, then the arguments

  Output
    for each item { 1, result } or { 0, error message }; { 1 } if the result is nil

  An item that fails half-way is not rolled back: an operation must check everything before its first write. This file
  checks that no key holds a value of another program.
]]
local fitting = {}
local function is_foreign(keys)
  for i = 1, #KEY_TYPES do
    local key, wanted = keys[i], KEY_TYPES[i]
    if wanted ~= 'any' and not fitting[key] then
      local found = redis.call('TYPE', key).ok
      if found ~= 'none' and found ~= wanted then return true end
      -- The type cannot change during this call, and most items of a batch have keys in common.
      fitting[key] = true
    end
  end
  return false
end

local function run(keys, args)
  if is_foreign(keys) then return redis.error_reply('WRONGTYPE a key holds something else') end
  return operation(keys, args)
end

local results = {}
local nextKey, nextArgument = 1, 1
while nextArgument <= #ARGV do
  local keys, args = {}, {}
  for i = 1, KEYS_PER_ITEM do
    keys[i] = KEYS[nextKey]
    nextKey = nextKey + 1
  end
  local count = tonumber(ARGV[nextArgument])
  for i = 1, count do
    args[i] = ARGV[nextArgument + i]
  end
  nextArgument = nextArgument + 1 + count

  local ran, result = pcall(run, keys, args)
  local message = nil
  if type(result) == 'table' then message = result.err end
  if not ran and message == nil then
    message = tostring(result)
    -- Error replies of the server begin with a code (OOM, READONLY), which is kept. Errors of Lua have none.
    if not string.find(message, '^%u+ ') then message = 'ERR ' .. message end
  end
  if message ~= nil then
    results[#results + 1] = { 0, message }
  else
    results[#results + 1] = { 1, result }
  end
end
return results
