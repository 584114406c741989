--[[
  Ends a move that has not switched: it cannot switch afterwards, and the shards that it has filled are noted to be
  dropped. A move that has switched is left alone: its shards are those of the list.

  Input
    keys  meta
    args  1 owner of the move, 2 'own' when the owner itself ends it, 'other' when somebody else does, which is possible
          only behind its lease, or 'look': only asks whether that would be possible

  Output
    1 when that move is over, 0 when it lives
]]
return function(keys, args)
  local text = redis.call('HGET', keys[1], 'moving')
  local moving = text and cjson.decode(text)
  if not moving or moving.owner ~= args[1] then return 1 end
  local time = redis.call('TIME')
  local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
  if args[2] ~= 'own' and moving.leaseUntil > now then return 0 end
  if args[2] == 'look' then return 1 end
  redis.call('HDEL', keys[1], 'moving')
  redis.call('HSET', keys[1], 'dropping', cjson.encode({ shards = moving.shards, generation = moving.generation + 1 }))
  return 1
end
