--[[
  Switches a list to the shards that a move has filled.

  Input
    keys  meta, imports
    args  1 incarnation, 2 owner of the move, 3 shards to move to, 4 generation of the moved list, 5 channel, 6 list id,
          then import id and text for each import: what its batches had done (bulk-moved.ts)

  Output
    'switched' | 'lost' | 'gone'
]]
return function(keys, args)
  local found = redis.call('HMGET', keys[1], 'incarnation', 'deleted', 'moving', 'shards', 'generation', 'layout')
  if found[1] ~= args[1] or found[2] then return 'gone' end
  local moving = found[3] and cjson.decode(found[3])
  if not moving or moving.owner ~= args[2] then
    -- The call was sent again because no reply came.
    return (found[4] == args[3] and found[5] == args[4]) and 'switched' or 'lost'
  end
  for i = 7, #args, 2 do
    redis.call('HSET', keys[2], args[i] .. '#moved', args[i + 1])
  end
  redis.call('HSET', keys[1], 'shards', args[3], 'generation', args[4], 'layout', tostring(tonumber(found[6] or 0) + 1),
    'dropping', cjson.encode({ shards = tonumber(found[4]), generation = tonumber(args[4]) }))
  redis.call('HDEL', keys[1], 'moving')
  redis.call('PUBLISH', args[5], '!' .. args[6])
  return 'switched'
end
