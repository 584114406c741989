--[[
  A value and what is left of its life.

  Input
    keys  value

  Output
    { value, milliseconds that are left, -1 without an end }; nil when there is none, or none that is a string
]]
return function(keys)
  local value = redis.pcall('GET', keys[1])
  if type(value) ~= 'string' then return nil end
  return { value, redis.call('PTTL', keys[1]) }
end
