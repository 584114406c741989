--[[
  The limits of a call, and its mode.

  A plan is, for each limit, `name kind capacity periodMs unitsPerMs unitsPerToken amount extra`, separated by `;`.
  Kinds are those of src/guards/rate-limit/algorithms/algorithm.ts. Calls of one batch mostly have the same plan, so
  each text is parsed once, and only the algorithms that it names are loaded.

  The mode of a call is mostly empty. It has the caller's time if that decides instead of the server's, then ` look` if
  nothing is to be consumed.

  Runs after the algorithms, which are loaded when they are first named.
]]
local makers = { [0] = limit_bucket, [1] = limit_fixed, [2] = limit_windows, [3] = limit_log, [4] = limit_log }
local algorithms, plans = {}, {}
local server_now = nil
local margin = 0

local function algorithm_of(kind)
  if algorithms[kind] == nil then algorithms[kind] = makers[kind]() end
  return algorithms[kind]
end

local function read(text)
  local rules = {}
  for name, kind, capacity, period, per_ms, per_token, amount, extra in
    string.gmatch(text, '([^; ]+) (%d) (%d+) (%d+) (%d+) (%d+) (%-?%d+) (%-?%d+)')
  do
    kind = tonumber(kind)
    rules[#rules + 1] = {
      name = name,
      kind = kind,
      algorithm = algorithm_of(kind),
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

-- The same for the whole batch.
local function now_here()
  if server_now == nil then
    local time = redis.call('TIME')
    server_now = time[1] * 1000 + math.floor(time[2] / 1000)
  end
  return server_now
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

  -- The time that decides, and whether nothing is to be consumed.
  how = function(text)
    if text == '' then return now_here(), false end
    local given, look = string.match(text, '^(%d*)( ?l?o?o?k?)$')
    if given == '' then return now_here(), look ~= '' end
    -- The caller's time may stand still while the server's, by which keys expire, goes on.
    margin = 3600000
    return tonumber(given), look ~= ''
  end,

  ttl = function(ms) return math.max(1, ms) + margin end,
}
