--[[
  The limits that a call names, and its time. Calls of one batch mostly name the same, so each text is read once.

  A plan is, for each limit, `name kind capacity periodMs unitsPerMs unitsPerToken amount extra`, divided by `;`. Kinds
  are those of src/rate-limit/algorithms/verdict.ts.
]]
local plans = {}
local server_now = nil
local margin = 0

local function read(text)
  local rules = {}
  for name, kind, capacity, period, per_ms, per_token, amount, extra in
    string.gmatch(text, '([^; ]+) (%d+) (%d+) (%d+) (%d+) (%d+) (%-?%d+) (%-?%d+)')
  do
    rules[#rules + 1] = {
      name = name,
      kind = tonumber(kind),
      capacity = tonumber(capacity),
      period = tonumber(period),
      per_ms = tonumber(per_ms),
      per_token = tonumber(per_token),
      amount = tonumber(amount),
      extra = tonumber(extra),
    }
  end
  return rules
end

return {
  of = function(text)
    local rules = plans[text]
    if rules == nil then
      rules = read(text)
      plans[text] = rules
    end
    return rules
  end,

  -- The caller's time where it was given, else this server's, the same for the whole batch.
  now = function(given)
    if given ~= nil and given ~= '' then
      -- It may stand still while the time by which this server lets keys expire goes on.
      margin = 3600000
      return tonumber(given)
    end
    if server_now == nil then
      local time = redis.call('TIME')
      server_now = time[1] * 1000 + math.floor(time[2] / 1000)
    end
    return server_now
  end,

  ttl = function(ms) return math.max(1, ms) + margin end,
}
