--[[
  Changes a field of the configuration, and tells all instances of it when something changed.

  Input
    keys  the configuration, the number of the last notice, the fields in order
    args  channel, text of the notice, field, then the value; without a value the field is removed;
          with `at least` behind the value it is kept when it is as high already

  Output
    1 when something changed
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
