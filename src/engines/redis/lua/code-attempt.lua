--[[
  Counts an attempt, compares, and on a match marks the code as used: its hash moves to `usedHash`, until the end of
  the code, so that the right code that comes again is not taken for a guess.

  Input
    keys  the code
    args  salt, attempts permitted, the caller's time, or nothing: this server's; then each hash that is accepted
  Output
    1 it was the code, 0 it was not or there is none, 2 the code in place has another salt, 3 it was the code and was
    used before

  Also where nothing is counted something is written, and leaves nothing: a disk or a replica that is waited for would
  tell by its time whether there is a code.

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
  -- What another program has put there is no code of ours, and not ours to change.
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
