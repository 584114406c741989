--[[
  Values and what is left of their lives.

  Input
    keys  values

  Output
    for each the value, nil when there is none or it is no string, and the milliseconds that are left, -1 without an end
]]
local call = redis.call

return function(keys)
  local found = {}
  for i = 1, #keys do
    local value = redis.pcall('GET', keys[i])
    found[2 * i - 1] = type(value) == 'string' and value
    found[2 * i] = value and call('PTTL', keys[i]) or -2
  end
  return found
end
