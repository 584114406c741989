--[[
  Removes the mark that locks a store without API keys.

  Input
    keys  the keys by name
    args  name of the mark, the value that unlocks

  Output
    1, or 0 if there are keys
]]
return function(keys, args)
  local others = redis.call('HLEN', keys[1]) - redis.call('HEXISTS', keys[1], args[1])
  if others > 0 then return 0 end
  redis.call('HSET', keys[1], args[1], args[2])
  return 1
end
