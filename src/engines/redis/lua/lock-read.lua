--[[
  Input   keys  the lock, its last fence
  Output  remaining time in ms as PTTL reports it (-2: free, -1: without expiry), and the fence, if known
]]
return function(keys)
  return { redis.call('PTTL', keys[1]), redis.call('GET', keys[2]) }
end
