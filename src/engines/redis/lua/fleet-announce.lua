--[[
  Stores the record of a process, and removes records that have expired, and the oldest of too many.

  Input
    keys  the records, when they expire
    args  id, text, how long it lasts in ms, how many records there may be
]]
return function(keys, args)
  local time = redis.call('TIME')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  local id, lasts = args[1], tonumber(args[3])
  redis.call('HSET', keys[1], id, string.format('%.0f', now) .. ' ' .. args[2])
  redis.call('ZADD', keys[2], string.format('%.0f', now + lasts), id)
  local over = redis.call('ZRANGEBYSCORE', keys[2], '-inf', string.format('%.0f', now), 'LIMIT', 0, 100)
  local surplus = redis.call('ZCARD', keys[2]) - #over - tonumber(args[4])
  if surplus > 0 then
    for _, oldest in ipairs(redis.call('ZRANGE', keys[2], #over, #over + math.min(surplus, 100) - 1)) do
      over[#over + 1] = oldest
    end
  end
  for _, gone in ipairs(over) do
    redis.call('HDEL', keys[1], gone)
    redis.call('ZREM', keys[2], gone)
  end
  -- When all processes have ended, nothing remains.
  local left = math.max(lasts, 60000)
  redis.call('PEXPIRE', keys[1], left)
  redis.call('PEXPIRE', keys[2], left)
  return 1
end
