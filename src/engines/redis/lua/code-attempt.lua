--[[
  Counts an attempt, compares, and on a match marks the code as used: its hash moves to `usedHash` until the code
  expires, so that the same right code sent again does not count as a guess.

  Input
    keys  the code
    args  salt, maximum attempts, the caller's time or '' for the server's, then each accepted hash
  Output
    1 the code matched, 0 it did not or there is none, 2 the stored code has another salt, 3 the code matched and was
    used before

  If nothing is counted, something is still written that leaves no trace. Otherwise the missing wait for a disk or a
  replica would reveal that there is no code.

  Runs after `clock`.
]]
local function countNothing(key, attempts, outcome)
  redis.call('HSET', key, 'attempts', attempts or 0)
  if not attempts then redis.call('DEL', key) end
  return outcome
end

local function isOneOf(hashes, hash)
  for i = 4, #hashes do
    if hashes[i] == hash then return true end
  end
  return false
end

return function(keys, args)
  local now = tonumber(args[3]) or clock.nowMs()
  local stored = redis.pcall('HMGET', keys[1], 'salt', 'hash', 'attempts', 'expiresAt', 'usedHash')
  -- Another program has written to this key. Its value is not changed.
  if stored.err then return 0 end
  if not stored[1] and redis.call('EXISTS', keys[1]) == 1 then return 0 end
  if not stored[1] or tonumber(stored[4]) <= now then return countNothing(keys[1], stored[3], 0) end
  if stored[1] == args[1] and isOneOf(args, stored[5]) then return countNothing(keys[1], stored[3], 3) end
  local isOpen = tonumber(stored[3]) < tonumber(args[2])
  if isOpen and stored[1] ~= args[1] then return 2 end
  if isOpen and isOneOf(args, stored[2]) then
    redis.call('HDEL', keys[1], 'hash')
    redis.call('HSET', keys[1], 'usedHash', stored[2])
    return 1
  end
  redis.call('HINCRBY', keys[1], 'attempts', 1)
  return 0
end
