--[[
  Ends a move that has not switched: it can no longer switch, and the shards that it has filled are recorded to be
  deleted. A move that has switched is not changed: its shards are those of the list. Needs clock.

  Input
    keys  meta
    args  1 owner of the move, 2 'own' if the owner itself ends it; 'other' if another process does, which is possible
          only after its lease; or 'look': only returns whether that would be possible

  Output
    1 if that move has ended, 0 if it is alive
]]
return function(keys, args)
  local text = redis.call('HGET', keys[1], 'moving')
  local moving = text and cjson.decode(text)
  if not moving or moving.owner ~= args[1] then return 1 end
  if args[2] ~= 'own' and moving.leaseUntil > clock.nowMs() then return 0 end
  if args[2] == 'look' then return 1 end
  redis.call('HDEL', keys[1], 'moving')
  redis.call('HSET', keys[1], 'dropping', cjson.encode({ shards = moving.shards, generation = moving.generation + 1 }))
  return 1
end
