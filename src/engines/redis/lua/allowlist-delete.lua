--[[
  Makes a list be gone: for everybody who reads its metadata and, with a single shard, for who writes or checks members.

  Input
    keys  metadata, state and attributes of a single shard
    args  1 now in ms, 2 channel, 3 list id

  Output
    1, or 0 when there is no such list
]]
return function(keys, args)
  local found = redis.call('HMGET', keys[1], 'incarnation', 'deleted')
  if not found[1] or found[2] then return 0 end
  -- First what needs no memory: behind it a full server lets the rest of a script pass.
  redis.call('DEL', keys[2])
  redis.call('HDEL', keys[3], '#generation')
  redis.call('HSET', keys[1], 'deleted', args[1])
  redis.call('PUBLISH', args[2], '!' .. args[3])
  return 1
end
