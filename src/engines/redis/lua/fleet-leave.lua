--[[
  Removes the record of a process.

  Input
    keys  the records, when they expire
    args  id
]]
return function(keys, args)
  redis.call('ZREM', keys[2], args[1])
  return redis.call('HDEL', keys[1], args[1])
end
