--[[
  The metadata of a list.

  isAlive(meta, incarnation) -> whether the list with this incarnation exists and is not deleted
]]
local function isAlive(meta, incarnation)
  local found = redis.call('HMGET', meta, 'incarnation', 'deleted')
  return found[1] == incarnation and not found[2]
end

return { isAlive = isAlive }
