--[[
  Takes a code away before it is used.

  Input
    keys  the code
    args  the caller's time, or nothing: this server's
  Output
    1 when there was one that had neither expired nor been used

  Runs after `clock`.
]]
return function(keys, args)
  local stored = redis.pcall('HMGET', keys[1], 'salt', 'expiresAt', 'hash')
  -- What another program has put there is no code of ours, and not ours to take.
  if stored.err or not stored[1] then return 0 end
  redis.call('DEL', keys[1])
  return stored[3] and tonumber(stored[2]) > (tonumber(args[1]) or clock.nowMs()) and 1 or 0
end
