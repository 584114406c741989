--[[
  Lists the records that have not expired.

  Input
    keys  the records, when they expire

  Output
    for each record its id, its text behind the time when it was stored, and its age in ms
]]
return function(keys)
  local time = redis.call('TIME')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  local found = {}
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', keys[2], '(' .. string.format('%.0f', now), '+inf')) do
    local text = redis.call('HGET', keys[1], id)
    if text then
      local at = tonumber(string.match(text, '^(%d+) ')) or now
      found[#found + 1] = id
      found[#found + 1] = text
      found[#found + 1] = string.format('%.0f', now - at)
    end
  end
  return found
end
