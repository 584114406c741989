--[[
  Fixed window, equal to src/guards/rate-limit/algorithms/fixed-window.ts, in whole numbers below 2^53;
  src/conformance/vectors/rate-limit.ts compares them.

  A state is up to four numbers; the first is nil where nothing was used.
    take(rule, cost, now, _, a, b, c, d)               remaining, resetMs, retryAfterMs, and the state to keep
    correct(rule, amount, taken, now, _, a, b, c, d)   the state to keep
    rewound(now, a, b, c, d)                           the state after the clock was set back; nil where it was not
]]
local max = math.max
local rewound_start = limit_rewound.start

-- State: start of the window, used in it, period.
local function fixed_at(rule, now, stored, used, period)
  local start = now - now % rule.period
  if stored == nil or stored < start then return start, 0 end
  -- Behind a clock that went back, or in a window that grew: what is counted stays counted.
  if period == rule.period then start = rewound_start(now, stored, period) end
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

  rewound = function(now, a, b, c)
    local start = rewound_start(now, a, c)
    if start ~= a then return start, b, c end
  end,

  -- What was taken in a window that is over is no longer of any account. While the clock is behind the window, nobody can
  -- tell whether it was taken in it: more use counts, less does not.
  correct = function(rule, amount, taken, now, _, a, b, c)
    if a ~= nil and c ~= rule.period then
      local is_over = taken - taken % rule.period + rule.period <= now
      local is_before = taken < a and (amount < 0 or now >= a)
      if is_over or is_before then return a, b, c end
      local left = max(0, b + amount)
      if left == 0 then return nil end
      return a, left, c
    end
    local start, used = fixed_at(rule, now, a, b, c)
    local is_over = taken - taken % rule.period < start - start % rule.period
    if is_over and (amount < 0 or now >= start) then return a, b, c end
    used = max(0, used + amount)
    if used == 0 then return nil end
    return start, used, rule.period
  end,
}
