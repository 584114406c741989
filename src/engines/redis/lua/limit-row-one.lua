--[[
  What is used of a subject, where that is one limit only, as it mostly is: the same bytes as in `limit-row`, read and
  written without a table; and what both have in common.

  Runs after `limit-plan`.
]]
local ONE = '<BdsBdddd'
local SIZE = 43 -- without the name
local LEAST_MS = 1000
local call = redis.call

-- Everything up to `ends` is needed. The key may live a little longer: to move its end each time, or to make the key
-- anew, costs as much as all the rest, so it is moved by a stretch.
local function end_of(known_end, ends, now)
  if ends <= known_end then return known_end end
  local stretch = known_end > 0 and math.floor((ends - now) / 4) or 0
  return math.max(ends + stretch, now + LEAST_MS)
end

local function store(key, log_key, text, keeps_end, ends, now)
  if keeps_end and log_key == nil then return call('SET', key, text, 'KEEPTTL') end
  -- As text: the server takes its time to write a number.
  local ttl = string.format('%.0f', limit_plan.ttl(ends - now))
  call('SET', key, text, 'PX', ttl)
  if log_key ~= nil then call('PEXPIRE', log_key, ttl) end
end

return {
  end_of = end_of,
  store = store,

  -- When the key expires, and the state; false when there is something else in the row.
  read = function(key, rule)
    local text = call('GET', key)
    if not text then return 0 end
    if string.byte(text) ~= 1 or #text ~= SIZE + #rule.name then return false end
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
