--[[
  Makes followers load a shard again if its number of members differs from what its log says: another program has
  changed the set without the log.

  Input
    keys  those of the shard (shard.lua)
    args  1 incarnation, 2 mark, 3 maximum bytes of the log, 4 channel, 5 list id

  Output
    1 if followers were notified, else 0
]]
return function(keys, args)
  local it = shard.read(keys)
  if it.incarnation ~= args[1] or it.frozen then return 0 end
  local count = redis.call('SCARD', it.keys.members)
  if count == tonumber(redis.call('HGET', it.keys.state, 'count') or 0) then return 0 end
  change_log.append(it.keys.state, it.keys.log, '\255', tonumber(args[2]), tonumber(args[3]), args[4], args[5])
  redis.call('HSET', it.keys.state, 'count', count)
  return 1
end
