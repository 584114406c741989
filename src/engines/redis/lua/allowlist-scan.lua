--[[
  One SSCAN step over the members of a shard, without their attributes.

  Input
    keys  members, attributes
    args  1 cursor of SSCAN, 2 approximate count

  Output
    { generation, next cursor, customer ids }
]]
return function(keys, args)
  local scanned = redis.call('SSCAN', keys[1], args[1], 'COUNT', args[2])
  return { redis.call('HGET', keys[2], '#generation'), scanned[1], scanned[2] }
end
