--[[
  Creates an empty shard for a move to fill. No other writer may write to it before the list has switched.

  Input
    keys  those of the shard (shard.lua), writers, old
    args  1 incarnation, 2 owner of the move, 3 generation of the moved list, 4 time of the last known change, 5 mark, 6
          maximum bytes of the log, 7 channel, 8 list id

  Output
    'prepared', or 'lost' when the shard belongs to a later move or is in use
]]
return function(keys, args)
  local it = shard.read(keys)
  if it.incarnation == args[1] then
    local known, wanted = tonumber(it.generation), tonumber(args[3])
    if known > wanted or (known == wanted and it.frozen ~= args[2]) then return 'lost' end
  elseif tonumber(it.incarnation or 0) > tonumber(args[1]) then
    return 'lost'
  end
  redis.call('UNLINK', unpack(keys))
  redis.call('HSET', it.keys.state, 'incarnation', args[1], 'generation', args[3], 'count', '0', 'updatedAt', args[4],
    'frozen', args[2])
  redis.call('HSET', it.keys.attributes, '#generation', args[1] .. '.' .. args[3])
  -- A follower that once read this list with the same number of shards must not continue from its old position.
  change_log.append(it.keys.state, it.keys.log, '\255', tonumber(args[5]), tonumber(args[6]), args[7], args[8])
  return 'prepared'
end
