--[[
  Token bucket, fixed window and the two counters: the twins of src/rate-limit/algorithms/, in whole numbers below 2^53,
  held equal by src/conformance/vectors/rate-limit.ts.

  A state is up to four numbers; the first is nil where nothing was used.
    take(rule, cost, now, a, b, c, d)               remaining, resetMs, retryAfterMs, and the state to keep
    correct(rule, amount, taken, now, a, b, c, d)   the state to keep
]]
local floor, ceil, min, max = math.floor, math.ceil, math.min, math.max
local MAX_UNITS = 9007199254740991

-- Rounds up: a part of a token that does not come out even is never given away.
local function rescale(units, from, to)
  if from == to then return units end
  local tokens = floor(units / from)
  local rest = (units - tokens * from) * to
  if rest > MAX_UNITS then rest = to else rest = ceil(rest / from) end
  return tokens * to + rest
end

-- The rule has changed: what was used stays used, but no more than a full bucket of the new size, and debts.
local function carry_over(used, per_token, capacity, rule)
  local debt = max(0, used - capacity * per_token)
  local inside = min(rescale(used - debt, per_token, rule.per_token), rule.capacity * rule.per_token)
  return min(inside + rescale(debt, per_token, rule.per_token), MAX_UNITS)
end

-- State: units used at a time, that time, units per token, capacity.
local function bucket_used(rule, now, used, at, per_token, capacity)
  if used == nil then return 0 end
  if per_token ~= rule.per_token or capacity ~= rule.capacity then
    used = carry_over(used, per_token, capacity, rule)
  end
  used = used - (now - at) * rule.per_ms
  if used <= 0 then return 0 end
  return min(used, MAX_UNITS)
end

local bucket = {
  take = function(rule, cost, now, a, b, c, d)
    local per_token, per_ms, capacity = rule.per_token, rule.per_ms, rule.capacity
    local full, used = capacity * per_token, bucket_used(rule, now, a, b, c, d)
    local retry = 0
    if cost > 0 then
      local wanted = used + cost * per_token
      if wanted > full then retry = ceil((wanted - full) / per_ms) else used = wanted end
    end
    return max(0, floor((full - used) / per_token)), ceil(used / per_ms), retry, used, now, per_token, capacity
  end,

  -- A lease may be older than the rule that the state is counted by: then, and where less was used, which needs no
  -- refill, the state stays as it is counted.
  correct = function(rule, amount, _, now, a, b, c, d)
    if a ~= nil and (amount < 0 or c ~= rule.per_token or d ~= rule.capacity) then
      local left = min(max(0, a + amount * c), MAX_UNITS)
      if left == 0 then return nil end
      return left, b, c, d
    end
    local used = bucket_used(rule, now, a, b, c, d) + amount * rule.per_token
    if used <= 0 then return nil end
    return min(used, MAX_UNITS), now, rule.per_token, rule.capacity
  end,
}

-- State: start of the window, used in it, period.
local function fixed_at(rule, now, stored, used, period)
  local start = now - now % rule.period
  if stored == nil or stored < start then return start, 0 end
  -- Behind a clock that went back, or in a window that grew: what is counted stays counted.
  if period == rule.period then start = stored end
  return start, used
end

local fixed = {
  take = function(rule, cost, now, a, b, c)
    local start, used = fixed_at(rule, now, a, b, c)
    local ends_in, retry = start + rule.period - now, 0
    if cost > 0 then
      if used + cost > rule.capacity then retry = ends_in else used = used + cost end
    end
    local reset = ends_in
    if used == 0 then reset = 0 end
    return max(0, rule.capacity - used), reset, retry, start, used, rule.period
  end,

  -- What was taken in a window that is over is no longer of any account.
  correct = function(rule, amount, taken, now, a, b, c)
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

-- Counts an amount in the window that the time falls in, unless that is past.
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
  -- Behind a clock that went back what is counted stays counted.
  if stored >= start then return stored, current, previous end
  if stored == start - rule.period then return start, 0, current end
  return start, 0, 0
end

-- How far into a window the use of the one before has faded to `room`.
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

local windows = {
  take = function(rule, cost, now, a, b, c, d)
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

  correct = function(rule, amount, taken, now, a, b, c, d)
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

return { [0] = bucket, [1] = fixed, [2] = windows }
