--[[
  Deletes a record and its response.

  Input   keys  main key and state
  Output  1, or 0 if there was none
]]
return function(keys)
  return math.min(1, redis.call('DEL', keys[1], keys[2]))
end
