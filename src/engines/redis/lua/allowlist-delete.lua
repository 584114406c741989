--[[
  Marks a list as deleted. Readers of its metadata see that and, with a single shard, so do writes and checks of
  members.

  Input
    keys  metadata, state and attributes of a single shard
    args  1 now in ms, 2 channel, 3 list id

  Output
    1, or 0 if there is no such list
]]
return function(keys, args)
  local found = redis.call('HMGET', keys[1], 'incarnation', 'deleted')
  if not found[1] or found[2] then return 0 end
  -- First a command that needs no memory: after it, a full server allows the rest of a script.
  redis.call('DEL', keys[2])
  redis.call('HDEL', keys[3], '#generation')
  redis.call('HSET', keys[1], 'deleted', args[1])
  redis.call('PUBLISH', args[2], '!' .. args[3])
  return 1
end
