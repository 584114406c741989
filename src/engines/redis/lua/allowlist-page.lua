--[[
  One SSCAN step over the members of a shard.

  Input
    keys  members, attributes
    args  1 cursor of SSCAN, 2 approximate count, 3 pattern of the ids, if not all are wanted

  Output
    { generation, next cursor, customer ids, attributes (nil: none) for each customer }
]]
return function(keys, args)
  local scanned = redis.call('SSCAN', keys[1], args[1], 'COUNT', args[2], 'MATCH', args[3] or '*')
  local ids = scanned[2]
  local attributes = {}
  -- SSCAN returns a set of only numbers completely, however large it is.
  for from = 1, #ids, 1000 do
    local part = redis.call('HMGET', keys[2], unpack(ids, from, math.min(#ids, from + 999)))
    for i = 1, #part do
      attributes[from + i - 1] = part[i]
    end
  end
  return { redis.call('HGET', keys[2], '#generation'), scanned[1], ids, attributes }
end
