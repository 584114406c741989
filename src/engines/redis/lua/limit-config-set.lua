--[[
  Changes many fields of the configuration, or none if one is no longer as it was read, and notifies all instances.

  Input
    keys  the configuration, the number of the last notice, the ordered fields
    args  channel, text of the notice; then for each change its field, the value that was read, and the new value,
          where an empty text means that there is none

  Output
    the places of the changes, from 1, whose field is not as it was read; empty if all were made
]]
return function(keys, args)
  local moved = {}
  for at = 3, #args, 3 do
    if (redis.call('HGET', keys[1], args[at]) or '') ~= args[at + 1] then moved[#moved + 1] = at / 3 end
  end
  if #moved > 0 then return moved end
  for at = 3, #args, 3 do
    local field, value = args[at], args[at + 2]
    if value == '' then
      redis.call('HDEL', keys[1], field)
      redis.call('ZREM', keys[3], field)
    else
      redis.call('HSET', keys[1], field, value)
      redis.call('ZADD', keys[3], 0, field)
    end
  end
  redis.call('PUBLISH', args[1], redis.call('INCR', keys[2]) .. ' ' .. args[2])
  return moved
end
