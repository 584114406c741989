--[[
  Reads values and their remaining lives.

  Input
    KEYS  values; the file has its own loop over all items, so that each costs little

  Output
    for each: the ms left (-1 without an expiry, -2 if it does not exist), and the value (nil if it does not exist,
    or is neither a string nor a set that is read as a list)

  Runs after `cache-set`.
]]
local found = {}
for i = 1, #KEYS do
  local value = redis.pcall('GET', KEYS[i])
  if type(value) == 'table' then value = cache_set.read(KEYS[i]) end
  found[2 * i - 1] = value and redis.call('PTTL', KEYS[i]) or -2
  found[2 * i] = type(value) == 'string' and value
end
return found
