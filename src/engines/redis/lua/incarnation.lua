--[[
  Returns a new number, larger than all earlier ones, even if the counter was lost.

  Input
    keys  counter

  Output
    the number: microseconds of the server's clock, or one more than the last one
]]
return function(keys)
  local time = redis.call('TIME')
  local clock = tonumber(time[1]) * 1000000 + tonumber(time[2])
  local last = tonumber(redis.call('GET', keys[1]) or 0)
  local number = string.format('%.0f', math.max(last + 1, clock))
  redis.call('SET', keys[1], number)
  return number
end
