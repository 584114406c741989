--[[
  Counts an attempt, compares, and on a match deletes.

  Input
    keys  the code
    args  salt, attempts permitted, the caller's time, or nothing: this server's; then each hash that is accepted
  Output
    1 it was the code, 0 it was not or there is none, 2 the code in place has another salt

  Also where nothing is counted something is written, and leaves nothing: a disk or a replica that is waited for would
  tell by its time whether there is a code.

  Runs after `clock`.
]]
local function countNothing(key, attempts)
  redis.call('HSET', key, 'attempts', attempts or 0)
  if not attempts then redis.call('DEL', key) end
  return 0
end

return function(keys, args)
  local now = tonumber(args[3]) or clock.nowMs()
  local stored = redis.pcall('HMGET', keys[1], 'salt', 'hash', 'attempts', 'expiresAt')
  -- What another program has put there is no code of ours, and not ours to change.
  if stored.err then return 0 end
  if not stored[1] and redis.call('EXISTS', keys[1]) == 1 then return 0 end
  if not stored[1] or tonumber(stored[4]) <= now then return countNothing(keys[1], stored[3]) end
  local isOpen = tonumber(stored[3]) < tonumber(args[2])
  if isOpen and stored[1] ~= args[1] then return 2 end
  for i = 4, #args do
    if isOpen and args[i] == stored[2] then
      redis.call('DEL', keys[1])
      return 1
    end
  end
  redis.call('HINCRBY', keys[1], 'attempts', 1)
  return 0
end
