--[[
  Looks up customers, all at the same moment.

  Input
    keys  members, attributes
    args  customer ids, at most some hundreds

  Output
    { generation, 1 or 0 for each customer, attributes (nil: none) for each customer }
]]
return function(keys, args)
  return {
    redis.call('HGET', keys[2], '#generation'),
    redis.call('SMISMEMBER', keys[1], unpack(args)),
    redis.call('HMGET', keys[2], unpack(args)),
  }
end
