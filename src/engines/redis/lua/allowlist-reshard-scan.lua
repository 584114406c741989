--[[
  One SSCAN step over the members of a shard, with their attributes.

  Input
    keys  members, attributes
    args  cursor, approximate count

  Output
    { next cursor, customer, attributes ('' if there are none), customer, … }
]]
local CHUNK = 900

return function(keys, args)
  local step = redis.call('SSCAN', keys[1], args[1], 'COUNT', args[2])
  local found, result = step[2], { step[1] }
  for first = 1, #found, CHUNK do
    local last = math.min(first + CHUNK - 1, #found)
    local texts = redis.call('HMGET', keys[2], unpack(found, first, last))
    for i = 1, #texts do
      result[#result + 1] = found[first + i - 1]
      result[#result + 1] = texts[i] or ''
    end
  end
  return result
end
