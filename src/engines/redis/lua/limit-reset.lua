--[[
  Deletes the usage of a subject.

  Input   keys  row and log
  Output  1, or 0 if there was nothing
]]
return function(keys)
  redis.call('DEL', keys[2])
  return redis.call('DEL', keys[1])
end
