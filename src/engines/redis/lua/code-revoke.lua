--[[
  Removes a code before it is used.

  Input
    keys  the code
    args  the caller's time or '' for the server's
  Output
    1 if there was one that was neither expired nor used

  Runs after `clock`.
]]
return function(keys, args)
  local stored = redis.pcall('HMGET', keys[1], 'salt', 'expiresAt', 'hash')
  -- Another program has written to this key. Its value is not removed.
  if stored.err or not stored[1] then return 0 end
  redis.call('DEL', keys[1])
  return stored[3] and tonumber(stored[2]) > (tonumber(args[1]) or clock.nowMs()) and 1 or 0
end
