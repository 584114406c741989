--[[
  Acquires a free lock, and makes its fence from the clock of the server: max(last + 1, time in µs).

  Input
    keys  the lock, its last fence, and for a caller that will wait the waiting mark
    args  owner, time to live in ms

  Output
    the fence; or, if another owner holds it, the remaining time in ms as a negative number (0: unknown)
]]
local FENCE_KEPT_MS = 86400000
local MARK_KEPT_MS = 2000

return function(keys, args)
  local owner, ttlMs = args[1], args[2]
  local last = redis.call('GET', keys[2])
  -- A value of another program is not changed, and without a fence there is no lock.
  if last and not tonumber(last) then return redis.error_reply('WRONGTYPE a fence is no number') end
  if not redis.call('SET', keys[1], owner, 'NX', 'PX', ttlMs) then
    -- A value of another program may be of another type: the lock is held all the same.
    if redis.pcall('GET', keys[1]) ~= owner then
      local leftMs = redis.call('PTTL', keys[1])
      if keys[3] then redis.call('SET', keys[3], '1', 'PX', math.max(leftMs, 0) + MARK_KEPT_MS) end
      return -math.max(leftMs, 0)
    end
    redis.call('PEXPIRE', keys[1], ttlMs)
    if last then return tonumber(last) end
  end
  local time = redis.call('TIME')
  -- Above the last one even if the clock was set back, or this server replaced one whose clock was ahead.
  local fence = math.max(tonumber(time[1]) * 1000000 + tonumber(time[2]), (tonumber(last) or 0) + 1)
  redis.call('SET', keys[2], string.format('%.0f', fence), 'PX', ttlMs + FENCE_KEPT_MS)
  return fence
end
