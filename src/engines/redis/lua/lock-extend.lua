--[[
  Lets a lock live for longer, from now on.

  Input
    keys  the lock, its last fence
    args  owner, time to live in ms, for how long a fence is kept behind that

  Output
    1, or 0 when the owner does not have it
]]
return function(keys, args)
  if redis.pcall('GET', keys[1]) ~= args[1] then return 0 end
  redis.call('PEXPIRE', keys[2], args[2] + args[3])
  return redis.call('PEXPIRE', keys[1], args[2])
end
