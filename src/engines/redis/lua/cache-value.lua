--[[
  Stores a value and its tags. A value that had tags and has none can be told from one whose tags were evicted.

  put(keys value, fill, tags; value, life in ms, tags between spaces or '')
  tell(key of the number, channel, text)

  Runs after `cache-set`.
]]
local function put(keys, value, life, tags)
  if not cache_set.put(keys[1], value, life) then redis.call('SET', keys[1], value, 'PX', life) end
  if tags ~= '' or redis.call('EXISTS', keys[3]) == 1 then
    redis.call('SET', keys[3], tags, 'PX', life)
  end
end

local function tell(key, channel, text)
  local number = redis.call('INCR', key)
  redis.call('PUBLISH', channel, number .. ' ' .. text)
  return number
end

return { put = put, tell = tell }
