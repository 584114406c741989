--[[
  Adds to the usage of a subject, by hour and by day. Fields are `START:a:LIMIT` (admitted) and `START:d:LIMIT` (denied).

  Input
    keys  usage of the subject by hour, by day
    args  for each key: how long a field is kept, in ms, and how many rows follow; of each: start, limit, admitted, denied
]]
local function add(key, field, amount)
  if amount ~= '0' then redis.call('HINCRBY', key, field, amount) end
end

-- Once for each hour or day of a subject in use: those that are not expire as a whole.
local function begin(key, latest, kept)
  redis.call('HSET', key, 'newest', string.format('%.0f', latest))
  for _, field in ipairs(redis.call('HKEYS', key)) do
    local start = tonumber(string.match(field, '^(%d+):'))
    if start ~= nil and start < latest - kept then redis.call('HDEL', key, field) end
  end
  -- Moved when the next one begins, and not by each count; a day more covers what is counted until then.
  redis.call('PEXPIRE', key, kept + 86400000)
end

return function(keys, args)
  local next_argument = 1
  for _, key in ipairs(keys) do
    local kept, rows = tonumber(args[next_argument]), tonumber(args[next_argument + 1])
    next_argument = next_argument + 2
    local newest = tonumber(rows > 0 and redis.call('HGET', key, 'newest') or 0)
    local latest = newest
    for _ = 1, rows do
      local start, limit = args[next_argument], args[next_argument + 1]
      add(key, start .. ':a:' .. limit, args[next_argument + 2])
      add(key, start .. ':d:' .. limit, args[next_argument + 3])
      latest = math.max(latest, tonumber(start))
      next_argument = next_argument + 4
    end
    if latest > newest then begin(key, latest, kept) end
  end
end
