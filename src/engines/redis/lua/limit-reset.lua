--[[
  Deletes the usage of a subject.

  Input   keys  row and log
  Output  1, or 0 when there was nothing

  Makes `limit-row`, which refuses a row of another program.
]]
local limit_row = limit_row()

return function(keys)
  limit_row.read(keys[1])
  redis.call('DEL', keys[2])
  return redis.call('DEL', keys[1])
end
