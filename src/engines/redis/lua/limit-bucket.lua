--[[
  Token bucket, equal to src/guards/rate-limit/algorithms/token-bucket.ts, in whole numbers below 2^53;
  src/conformance/vectors/rate-limit.ts compares them.

  A state is up to four numbers; the first is nil if nothing was used.
    take(rule, cost, now, _, a, b, c, d)               remaining, resetMs, retryAfterMs, and the state to store
    correct(rule, amount, taken, now, _, a, b, c, d)   the state to store
]]
local floor, ceil, min, max = math.floor, math.ceil, math.min, math.max
local MAX_UNITS = 9007199254740991
local MAX_AHEAD_MS = 10000 -- as in src/guards/rate-limit/algorithms/rewound.ts

-- Rounds up, so that a fraction of a token is never given away.
local function rescale(units, from, to)
  if from == to then return units end
  local tokens = floor(units / from)
  local rest = (units - tokens * from) * to
  if rest > MAX_UNITS then rest = to else rest = ceil(rest / from) end
  return tokens * to + rest
end

-- The rule has changed: used units stay used, up to a full bucket of the new size, plus debts.
local function carry_over(used, per_token, capacity, rule)
  local debt = max(0, used - capacity * per_token)
  local inside = min(rescale(used - debt, per_token, rule.per_token), rule.capacity * rule.per_token)
  return min(inside + rescale(debt, per_token, rule.per_token), MAX_UNITS)
end

-- State: units used at a time, that time, units per token, capacity. Returns the used units, and the time from which
-- they refill. If the clock goes back a little, no time has passed. If it was set back by more than clocks differ,
-- refilling starts at the present time.
local function bucket_used(rule, now, used, at, per_token, capacity)
  if used == nil then return 0, now end
  if per_token ~= rule.per_token or capacity ~= rule.capacity then
    used = carry_over(used, per_token, capacity, rule)
  end
  if at - now > MAX_AHEAD_MS then at = now end
  used = used - max(0, now - at) * rule.per_ms
  if used <= 0 then return 0, max(now, at) end
  return min(used, MAX_UNITS), max(now, at)
end

return {
  take = function(rule, cost, now, _, a, b, c, d)
    local per_token, per_ms, capacity = rule.per_token, rule.per_ms, rule.capacity
    local full, retry, reset = capacity * per_token, 0, 0
    local used, from = bucket_used(rule, now, a, b, c, d)
    if cost > 0 then
      local wanted = used + cost * per_token
      if wanted > full then retry = ceil((wanted - full) / per_ms) + from - now else used = wanted end
    end
    if used > 0 then reset = ceil(used / per_ms) + from - now end
    return max(0, floor((full - used) / per_token)), reset, retry, used, from, per_token, capacity
  end,

  -- Whether to store the state although nothing is consumed: otherwise it would wait until the time before the clock
  -- was set back.
  is_ahead = function(now, used, at) return used ~= nil and at - now > MAX_AHEAD_MS end,

  -- A lease may be older than the rule that the state was counted with. Then, and if less was used, which needs no
  -- refill, the counting of the state is not changed.
  correct = function(rule, amount, _, now, _, a, b, c, d)
    if a ~= nil and (amount < 0 or c ~= rule.per_token or d ~= rule.capacity) then
      local left = min(max(0, a + amount * c), MAX_UNITS)
      if left == 0 then return nil end
      return left, b, c, d
    end
    local used, from = bucket_used(rule, now, a, b, c, d)
    used = used + amount * rule.per_token
    if used <= 0 then return nil end
    return min(used, MAX_UNITS), from, rule.per_token, rule.capacity
  end,
}
