--[[
  Stores an API key, and the mark that locks the store.

  Input
    keys  the keys by name
    args  name, record, name of the mark, the mark

  Output
    1, or 0 if there is a key of this name
]]
return function(keys, args)
  if redis.call('HSETNX', keys[1], args[1], args[2]) == 0 then return 0 end
  redis.call('HSET', keys[1], args[3], args[4])
  return 1
end
