--[[
  Fixed window, equal to src/guards/rate-limit/algorithms/fixed-window.ts, in whole numbers below 2^53;
  src/conformance/vectors/rate-limit.ts compares them.

  A state is up to four numbers; the first is nil if nothing was used.
    take(rule, cost, now, _, a, b, c, d)               remaining, resetMs, retryAfterMs, and the state to store
    correct(rule, amount, taken, now, _, a, b, c, d)   the state to store
]]
local max = math.max

-- State: start of the window, used in it, period.
local function fixed_at(rule, now, stored, used, period)
  local start = now - now % rule.period
  if stored == nil or stored < start then return start, 0 end
  -- If the clock went back, or the window grew, the count stays.
  if period == rule.period then start = stored end
  return start, used
end

return {
  take = function(rule, cost, now, _, a, b, c)
    local start, used = fixed_at(rule, now, a, b, c)
    local ends_in, retry = start + rule.period - now, 0
    if cost > 0 then
      if used + cost > rule.capacity then retry = ends_in else used = used + cost end
    end
    local reset = ends_in
    if used == 0 then reset = 0 end
    return max(0, rule.capacity - used), reset, retry, start, used, rule.period
  end,

  -- What was consumed in an earlier window no longer counts.
  correct = function(rule, amount, taken, now, _, a, b, c)
    if a ~= nil and c ~= rule.period then
      local is_over = taken - taken % rule.period + rule.period <= now
      if is_over or taken < a then return a, b, c end
      local left = max(0, b + amount)
      if left == 0 then return nil end
      return a, left, c
    end
    local start, used = fixed_at(rule, now, a, b, c)
    if taken - taken % rule.period < start - start % rule.period then return a, b, c end
    used = max(0, used + amount)
    if used == 0 then return nil end
    return start, used, rule.period
  end,
}
