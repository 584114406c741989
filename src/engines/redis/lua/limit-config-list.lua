--[[
  Lists fields of the configuration in order. If the ordered set has another number of fields than the configuration
  (another program has written it, or it was lost), it is rebuilt.

  Input
    keys  the configuration, its ordered fields
    args  start and end, as for ZRANGE BYLEX; the maximum number

  Output
    the fields
]]
return function(keys, args)
  if redis.call('ZCARD', keys[2]) ~= redis.call('HLEN', keys[1]) then
    redis.call('DEL', keys[2])
    for _, field in ipairs(redis.call('HKEYS', keys[1])) do redis.call('ZADD', keys[2], 0, field) end
  end
  return redis.call('ZRANGE', keys[2], args[1], args[2], 'BYLEX', 'LIMIT', 0, args[3])
end
