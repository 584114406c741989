--[[
  Sets a new time to live of a lock, from now on.

  Input
    keys  the lock, its last fence
    args  owner, time to live in ms

  Output
    1, or 0 if the owner does not hold it
]]
local FENCE_KEPT_MS = 86400000

return function(keys, args)
  if redis.pcall('GET', keys[1]) ~= args[1] then return 0 end
  redis.call('PEXPIRE', keys[2], args[2] + FENCE_KEPT_MS)
  return redis.call('PEXPIRE', keys[1], args[2])
end
