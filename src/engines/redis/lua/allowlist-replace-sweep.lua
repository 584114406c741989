--[[
  One step through the generation before the last switch. Customers who are still members are removed from it. The
  others are returned, to be removed when the reverse index is updated.

  Input
    keys  old, members
    args  cursor, approximate count

  Output
    { next cursor, those that are no longer members }
]]
local CHUNK = 900

return function(keys, args)
  local step = redis.call('SSCAN', keys[1], args[1], 'COUNT', args[2])
  local found, gone = step[2], {}
  for first = 1, #found, CHUNK do
    local last = math.min(first + CHUNK - 1, #found)
    local there = redis.call('SMISMEMBER', keys[2], unpack(found, first, last))
    local stayed = {}
    for i = 1, #there do
      local customer = found[first + i - 1]
      if there[i] == 0 then gone[#gone + 1] = customer else stayed[#stayed + 1] = customer end
    end
    if #stayed > 0 then redis.call('SREM', keys[1], unpack(stayed)) end
  end
  return { step[1], gone }
end
