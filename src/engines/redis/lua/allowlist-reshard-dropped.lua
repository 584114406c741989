--[[
  The shards that a list has moved away from are dropped.

  Input
    keys  meta
    args  1 what `dropping` said

  Output
    1
]]
return function(keys, args)
  if redis.call('HGET', keys[1], 'dropping') == args[1] then redis.call('HDEL', keys[1], 'dropping') end
  return 1
end
