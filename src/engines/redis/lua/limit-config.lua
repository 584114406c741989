--[[
  Changes a field of the configuration, and notifies all instances if something changed.

  Input
    keys  the configuration, the number of the last notice, the ordered fields
    args  channel, text of the notice, field, then the value; without a value the field is removed; with `at least`
          after the value, a value that is as high already is not changed

  Output
    1 if something changed
]]
return function(keys, args)
  local field, value, mode = args[3], args[4], args[5]
  if value == nil then
    if redis.call('HDEL', keys[1], field) == 0 then return 0 end
    redis.call('ZREM', keys[3], field)
  else
    local known = tonumber(redis.call('HGET', keys[1], field) or 0)
    if mode == 'at least' and known >= tonumber(value) then return 0 end
    redis.call('HSET', keys[1], field, value)
    redis.call('ZADD', keys[3], 0, field)
  end
  redis.call('PUBLISH', args[1], redis.call('INCR', keys[2]) .. ' ' .. args[2])
  return 1
end
