--[[
  The two counters of a sliding window, equal to src/guards/rate-limit/algorithms/sliding-window-counter.ts, in whole
  numbers below 2^53; src/conformance/vectors/rate-limit.ts compares them.

  A state is up to four numbers; the first is nil if nothing was used.
    take(rule, cost, now, _, a, b, c, d)               remaining, resetMs, retryAfterMs, and the state to store
    correct(rule, amount, taken, now, _, a, b, c, d)   the state to store
]]
local floor, max = math.floor, math.max

-- Counts an amount in the window of its time, unless that window is past.
local function count(period, start, current, previous, at, amount)
  if at >= start then return max(0, current + amount), previous end
  if at >= start - period then return current, max(0, previous + amount) end
  return current, previous
end

-- State: start of the current window, used in it, used in the one before, period.
local function windows_at(rule, now, stored, current, previous, period)
  local start = now - now % rule.period
  if stored == nil then return start, 0, 0 end
  if period ~= rule.period then
    local now_current, now_previous = count(rule.period, start, 0, 0, stored, current)
    return start, count(rule.period, start, now_current, now_previous, stored - 1, previous)
  end
  -- If the clock went back, the count stays.
  if stored >= start then return stored, current, previous end
  if stored == start - rule.period then return start, 0, current end
  return start, 0, 0
end

-- How far into a window the usage of the previous one has faded to `room`.
local function faded_after(used, room, period)
  if used <= room then return 0 end
  return period - floor((room * period) / used)
end

local function windows_retry(rule, cost, now, start, current, previous)
  local capacity, period = rule.capacity, rule.period
  if current + cost <= capacity then
    return start + faded_after(previous, capacity - current - cost, period) - now
  end
  return start + period + faded_after(current, capacity - cost, period) - now
end

return {
  take = function(rule, cost, now, _, a, b, c, d)
    local start, current, previous = windows_at(rule, now, a, b, c, d)
    local period = rule.period
    local limit = rule.capacity * period
    local weight = current * period + previous * (period - max(0, now - start))
    local retry = 0
    if cost > 0 then
      if weight + cost * period > limit then
        retry = max(1, windows_retry(rule, cost, now, start, current, previous))
      else
        current, weight = current + cost, weight + cost * period
      end
    end
    local reset = 0
    if current > 0 then
      reset = start + 2 * period - now
    elseif previous > 0 then
      reset = start + period - now
    end
    return max(0, floor((limit - weight) / period)), reset, retry, start, current, previous, period
  end,

  correct = function(rule, amount, taken, now, _, a, b, c, d)
    local start, current, previous, period = a, b, c, d
    if a == nil or d == rule.period then
      start, current, previous = windows_at(rule, now, a, b, c, d)
      period = rule.period
    elseif taken - taken % rule.period + 2 * rule.period <= now then
      return a, b, c, d
    end
    current, previous = count(period, start, current, previous, taken, amount)
    if current == 0 and previous == 0 then return nil end
    return start, current, previous, period
  end,
}
