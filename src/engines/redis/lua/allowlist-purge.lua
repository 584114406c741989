--[[
  Removes customers of a deleted list from a set, or deletes everything that a shard of it has left.

  Input
    keys  state of the shard, set, then 11 further keys of the shard
    args  1 incarnation of the deleted list, then customers; none: everything is deleted

  Output
    1, or 0 if the shard already belongs to a later list
]]
return function(keys, args)
  local known = redis.call('HGET', keys[1], 'incarnation')
  if known and tonumber(known) > tonumber(args[1]) then return 0 end
  if #args == 1 then
    redis.call('UNLINK', unpack(keys))
    return 1
  end
  for from = 2, #args, 1000 do
    redis.call('SREM', keys[2], unpack(args, from, math.min(#args, from + 999)))
  end
  return 1
end
