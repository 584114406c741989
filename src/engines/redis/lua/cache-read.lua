--[[
  Values and what is left of their lives.

  Input
    KEYS  values; it has the loop over all items itself, so that one costs little

  Output
    for each the milliseconds that are left, -1 without an end, -2 when there is none, and the value, nil when there is none
    or it is no string, nor a set that is read as a list

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
