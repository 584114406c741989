--[[
  One SSCAN step over a set: returns the elements that are not in another set.

  Input
    keys  the set to scan, the other set
    args  cursor, approximate count

  Output
    { next cursor, elements that are not in the other set }
]]
local CHUNK = 900

return function(keys, args)
  local step = redis.call('SSCAN', keys[1], args[1], 'COUNT', args[2])
  local found, missing = step[2], {}
  for first = 1, #found, CHUNK do
    local last = math.min(first + CHUNK - 1, #found)
    local there = redis.call('SMISMEMBER', keys[2], unpack(found, first, last))
    for i = 1, #there do
      if there[i] == 0 then missing[#missing + 1] = found[first + i - 1] end
    end
  end
  return { step[1], missing }
end
