--[[
  What is used of all limits of a subject: the text `UNTIL;name state;name state…`, which expires at UNTIL, when nothing of
  it counts any more. Runs after `limit-plan`.
]]
local gmatch, match, format = string.gmatch, string.match, string.format

return {
  read = function(key)
    local row = { until_ms = 0, names = {}, states = {} }
    local text = redis.call('GET', key)
    if not text then return row end
    row.until_ms = tonumber(match(text, '^%d+'))
    for name, state in gmatch(text, ';([^ ;]+) ([^;]+)') do
      row.names[#row.names + 1] = name
      row.states[name] = state
    end
    return row
  end,

  set = function(row, name, state)
    if row.states[name] == nil and state ~= nil then row.names[#row.names + 1] = name end
    row.states[name] = state
  end,

  -- A limit that this call does not name may count for longer, so the end never comes nearer.
  write = function(keys, first, width, row, until_ms, now)
    local parts = {}
    for _, name in ipairs(row.names) do
      local state = row.states[name]
      if state ~= nil then parts[#parts + 1] = name .. ' ' .. state end
    end
    if #parts == 0 then
      redis.call('DEL', keys[first])
      return
    end
    if until_ms < row.until_ms then until_ms = row.until_ms end
    local ttl = limit_plan.ttl(until_ms - now)
    redis.call('SET', keys[first], format('%.0f;', until_ms) .. table.concat(parts, ';'), 'PX', ttl)
    if width > 1 then redis.call('PEXPIRE', keys[first + 1], ttl) end
  end,
}
