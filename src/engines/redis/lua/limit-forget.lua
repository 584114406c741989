--[[
  Notes from which time on usage is told; it only grows.

  Input
    keys  these times
    args  step, time
]]
return function(keys, args)
  local known = tonumber(redis.call('HGET', keys[1], args[1]) or 0)
  if tonumber(args[2]) > known then redis.call('HSET', keys[1], args[1], args[2]) end
end
