--[[
  For each item of a batch, acquires a free lock, and makes its fence from the clock of the server: max(last + 1, time in
  µs). It has its own loop, so that each item costs little.

  Input
    KEYS  for each item: the lock, its last fence, and for a caller that will wait the waiting mark
    ARGV  for each item: owner, time to live in ms

  Output
    for each item: the fence; if another owner holds it, the remaining time in ms as a negative number (0: unknown); or its
    error message

  For each item, everything is checked before the first write.
]]
local FENCE_KEPT_MS = 86400000
local MARK_KEPT_MS = 2000
-- Failures are results, so that the items before and after them keep theirs.
local call, max, format = redis.pcall, math.max, string.format
local time = call('TIME')
local now_us = time[1] * 1000000 + time[2]

local function failure_of(reply) return type(reply) == 'table' and reply.err end

local function acquire(key, fence_key, mark_key, owner, ttl)
  local last = call('GET', fence_key)
  local failure = failure_of(last) or (mark_key and failure_of(call('GET', mark_key)))
  if failure then return failure end
  local last_fence = 0
  if last then
    last_fence = tonumber(last)
    -- A value of another program is not changed, and without a fence there is no lock.
    if not last_fence then return 'WRONGTYPE a fence is no number' end
  end
  local taken = call('SET', key, owner, 'NX', 'PX', ttl)
  if not taken then
    -- A value of another program may be of another type: the lock is held all the same.
    if call('GET', key) ~= owner then
      local left = max(call('PTTL', key), 0)
      if mark_key then call('SET', mark_key, '1', 'PX', left + MARK_KEPT_MS) end
      return -left
    end
    call('PEXPIRE', key, ttl)
    if last then return last_fence end
  elseif taken.err then
    return taken.err
  end
  -- Above the last one even if the clock was set back, or this server replaced one whose clock was ahead.
  local fence = max(now_us, last_fence + 1)
  return failure_of(call('SET', fence_key, format('%.0f', fence), 'PX', ttl + FENCE_KEPT_MS)) or fence
end

local answer, key = {}, 1
for item = 1, #KEYS / KEYS_PER_ITEM do
  local mark_key = KEYS_PER_ITEM == 3 and KEYS[key + 2]
  answer[item] = acquire(KEYS[key], KEYS[key + 1], mark_key, ARGV[2 * item - 1], ARGV[2 * item])
  key = key + KEYS_PER_ITEM
end
return answer
