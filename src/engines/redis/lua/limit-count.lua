--[[
  Adds to the usage of a subject, by hour and by day. Fields are `START:a:LIMIT` (admitted) and `START:d:LIMIT` (denied).

  Input
    keys  usage of the subject by hour, by day
    args  for each key: how long a field is kept, in ms, and how many rows follow; of each: start, limit, admitted, denied
]]
local DAY_MS = 86400000

-- Old fields leave when a new one comes, and then the end of the key is moved: not by each count. A day more covers what
-- is counted until the next. The key of a subject that is no longer used expires as a whole.
local function tidy(key, start, kept)
  for _, field in ipairs(redis.call('HKEYS', key)) do
    if tonumber(string.match(field, '^(%d+):')) < start - kept then redis.call('HDEL', key, field) end
  end
  redis.call('PEXPIRE', key, kept + DAY_MS)
end

local function add(key, kept, start, verdict, limit, amount)
  if amount == '0' then return end
  local sum = redis.call('HINCRBY', key, start .. verdict .. limit, amount)
  if sum == tonumber(amount) then tidy(key, tonumber(start), kept) end
end

return function(keys, args)
  local next_argument = 1
  for _, key in ipairs(keys) do
    local kept, rows = tonumber(args[next_argument]), tonumber(args[next_argument + 1])
    next_argument = next_argument + 2
    for _ = 1, rows do
      local start, limit = args[next_argument], args[next_argument + 1]
      add(key, kept, start, ':a:', limit, args[next_argument + 2])
      add(key, kept, start, ':d:', limit, args[next_argument + 3])
      next_argument = next_argument + 4
    end
  end
end
