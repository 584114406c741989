--[[
  Deletes everything that a shard of a deleted list has left.

  Input
    keys  state of the shard, then all its other keys
    args  1 incarnation of the deleted list

  Output
    1, or 0 if the shard already belongs to a later list
]]
return function(keys, args)
  local known = redis.call('HGET', keys[1], 'incarnation')
  if known and tonumber(known) > tonumber(args[1]) then return 0 end
  redis.call('UNLINK', unpack(keys))
  return 1
end
