--[[
  Counts an attempt, compares, and on a match deletes.

  Input
    keys  the code
    args  salt, attempts permitted, the caller's time, or nothing: this server's; then each hash that is accepted
  Output
    1 it was the code, 0 it was not or there is none, 2 the code in place has another salt

  Runs after `clock`.
]]
return function(keys, args)
  local now = tonumber(args[3]) or clock.nowMs()
  local stored = redis.call('HMGET', keys[1], 'salt', 'hash', 'attempts', 'expiresAt')
  if not stored[1] or tonumber(stored[4]) <= now then return 0 end
  if tonumber(stored[3]) >= tonumber(args[2]) then return 0 end
  if stored[1] ~= args[1] then return 2 end
  for i = 4, #args do
    if args[i] == stored[2] then
      redis.call('DEL', keys[1])
      return 1
    end
  end
  redis.call('HINCRBY', keys[1], 'attempts', 1)
  return 0
end
