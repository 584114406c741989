--[[
  Values and what is left of their lives.

  Input
    keys  values

  Output
    for each the milliseconds that are left, -1 without an end, -2 when there is none, and the value, nil when there is none
    or it is no string
]]
local call = redis.call

return function(keys)
  local found = {}
  for i = 1, #keys do
    local value = redis.pcall('GET', keys[i])
    found[2 * i - 1] = value and call('PTTL', keys[i]) or -2
    found[2 * i] = type(value) == 'string' and value
  end
  return found
end
