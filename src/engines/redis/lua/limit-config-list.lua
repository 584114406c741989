--[[
  Tells fields of the configuration in their order. Where the order does not hold as many as the configuration
  (another program has written it, or it was lost) it is made anew.

  Input
    keys  the configuration, its fields in order
    args  where to begin and to end, as ZRANGE BYLEX takes it; how many

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
