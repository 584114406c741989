--[[
  Forgets what was used of a subject.

  Input   keys  row and log
  Output  1, or 0 when there was nothing
]]
return function(keys)
  redis.call('DEL', keys[2])
  return redis.call('DEL', keys[1])
end
