--[[
  Makes a shard of a deleted list refuse writes and checks.

  Input
    keys  state, attributes
    args  1 incarnation of the deleted list

  Output
    1, or 0 if the shard belongs to a later list
]]
return function(keys, args)
  local known = redis.call('HGET', keys[1], 'incarnation')
  if known and tonumber(known) > tonumber(args[1]) then return 0 end
  redis.call('DEL', keys[1])
  redis.call('HDEL', keys[2], '#generation')
  return 1
end
