--[[
  The usage of a subject with a single limit, the usual case: the same bytes as in `limit-row`, read and written without
  a table. Also the functions that both share.

  Runs after `limit-plan`.
]]
local ONE = '<BdsBdddd'
local LEAST_MS = 1000
local call = redis.call

-- The key must live until `ends` and may live a little longer. To move its expiry each time, or to create the key
-- again, costs as much as the rest of the call. So the expiry is moved in larger steps.
local function end_of(known_end, ends, now)
  if ends <= known_end then return known_end end
  local stretch = known_end > 0 and math.floor((ends - now) / 4) or 0
  return math.max(ends + stretch, now + LEAST_MS)
end

local function store(key, log_key, text, keeps_end, ends, now)
  if keeps_end and log_key == nil then return call('SET', key, text, 'KEEPTTL') end
  -- As text, because the server is slow to format a number.
  local ttl = string.format('%.0f', limit_plan.ttl(ends - now))
  call('SET', key, text, 'PX', ttl)
  if log_key ~= nil then call('PEXPIRE', log_key, ttl) end
end

return {
  end_of = end_of,
  store = store,

  -- When the key expires, and the state; false if the row has other limits.
  read = function(key, rule)
    local text = call('GET', key)
    if not text then return 0 end
    if string.byte(text) ~= 1 then return false end
    local _, ends, name, kind, a, b, c, d = struct.unpack(ONE, text)
    if name ~= rule.name then return false end
    if kind ~= rule.kind then return ends end
    return ends, a, b, c, d
  end,

  write = function(key, rule, known_end, ends, now, a, b, c, d)
    ends = end_of(known_end, ends, now)
    local text = struct.pack(ONE, 1, ends, rule.name, rule.kind, a, b or 0, c or 0, d or 0)
    store(key, nil, text, ends == known_end, ends, now)
  end,
}
