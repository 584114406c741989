--[[
  Removes an API key, and sets the mark that locks the store: earlier versions stored keys without the mark.

  Input
    keys  the keys by name
    args  name, name of the mark, the mark

  Output
    1, or 0 if there is no key of this name
]]
return function(keys, args)
  if redis.call('HDEL', keys[1], args[1]) == 0 then return 0 end
  redis.call('HSET', keys[1], args[2], args[3])
  return 1
end
