--[[
  Records that the shards that a list has moved away from are deleted.

  Input
    keys  meta
    args  1 the value of `dropping`

  Output
    1
]]
return function(keys, args)
  if redis.call('HGET', keys[1], 'dropping') == args[1] then redis.call('HDEL', keys[1], 'dropping') end
  return 1
end
