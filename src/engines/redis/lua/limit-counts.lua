--[[
  Token bucket, fixed window and the two counters: the twins of src/rate-limit/algorithms/, in whole numbers below 2^53,
  held equal by src/conformance/vectors/rate-limit.ts.

  A state is text, its kind first. Absent: nothing was used.
    take(state, rule, cost, now)               state to keep, remaining, resetMs, retryAfterMs
    correct(state, rule, amount, taken, now)   state to keep
]]
local floor, ceil, min, max = math.floor, math.ceil, math.min, math.max
local match, format = string.match, string.format
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

local function bucket_used(state, rule, now)
  if not state then return 0 end
  local used, at, per_token, capacity = match(state, '^0 (%d+) (%d+) (%d+) (%d+)$')
  if used == nil then return 0 end
  used, at, per_token, capacity = tonumber(used), tonumber(at), tonumber(per_token), tonumber(capacity)
  if per_token ~= rule.per_token or capacity ~= rule.capacity then
    used = carry_over(used, per_token, capacity, rule)
  end
  return min(max(0, used - (now - at) * rule.per_ms), MAX_UNITS)
end

local function bucket_state(used, rule, now)
  if used == 0 then return nil end
  return format('0 %.0f %.0f %.0f %.0f', used, now, rule.per_token, rule.capacity)
end

local bucket = {
  take = function(state, rule, cost, now)
    local full, used = rule.capacity * rule.per_token, bucket_used(state, rule, now)
    local retry = 0
    if cost > 0 then
      local missing = used + cost * rule.per_token - full
      if missing > 0 then
        retry = ceil(missing / rule.per_ms)
      else
        used = used + cost * rule.per_token
        state = bucket_state(used, rule, now)
      end
    end
    return state, max(0, floor((full - used) / rule.per_token)), ceil(used / rule.per_ms), retry
  end,

  correct = function(state, rule, amount, _, now)
    local used = bucket_used(state, rule, now) + amount * rule.per_token
    return bucket_state(min(max(0, used), MAX_UNITS), rule, now)
  end,
}

local function fixed_at(state, rule, now)
  local start = now - now % rule.period
  local stored, used, period = match(state or '', '^1 (%d+) (%d+) (%d+)$')
  stored = tonumber(stored)
  if stored == nil or stored < start then return start, 0 end
  -- Behind a clock that went back, or in a window that grew: what is counted stays counted.
  if tonumber(period) == rule.period then start = stored end
  return start, tonumber(used)
end

local function fixed_state(start, used, rule)
  if used == 0 then return nil end
  return format('1 %.0f %.0f %.0f', start, used, rule.period)
end

local fixed = {
  take = function(state, rule, cost, now)
    local start, used = fixed_at(state, rule, now)
    local ends_in, retry = start + rule.period - now, 0
    if cost > 0 then
      if used + cost > rule.capacity then
        retry = ends_in
      else
        used = used + cost
        state = fixed_state(start, used, rule)
      end
    end
    local reset = ends_in
    if used == 0 then reset = 0 end
    return state, max(0, rule.capacity - used), reset, retry
  end,

  -- What was taken in a window that is over is no longer of any account.
  correct = function(state, rule, amount, taken, now)
    local start, used = fixed_at(state, rule, now)
    if taken - taken % rule.period < start - start % rule.period then return state end
    return fixed_state(start, max(0, used + amount), rule)
  end,
}

-- Counts an amount in the window that the time falls in, unless that is past.
local function count(start, current, previous, rule, at, amount)
  if at >= start then return max(0, current + amount), previous end
  if at >= start - rule.period then return current, max(0, previous + amount) end
  return current, previous
end

local function windows_at(state, rule, now)
  local start = now - now % rule.period
  local stored, current, previous, period = match(state or '', '^2 (%d+) (%d+) (%d+) (%d+)$')
  if stored == nil then return start, 0, 0 end
  stored, current, previous = tonumber(stored), tonumber(current), tonumber(previous)
  if tonumber(period) ~= rule.period then
    local now_current, now_previous = count(start, 0, 0, rule, stored, current)
    return start, count(start, now_current, now_previous, rule, stored - 1, previous)
  end
  -- Behind a clock that went back what is counted stays counted.
  if stored >= start then return stored, current, previous end
  if stored == start - rule.period then return start, 0, current end
  return start, 0, 0
end

local function windows_state(start, current, previous, rule)
  if current == 0 and previous == 0 then return nil end
  return format('2 %.0f %.0f %.0f %.0f', start, current, previous, rule.period)
end

-- How far into a window the use of the one before has faded to `room`.
local function faded_after(used, room, period)
  if used <= room then return 0 end
  return period - floor((room * period) / used)
end

local function windows_retry(start, current, previous, rule, cost, now)
  local capacity, period = rule.capacity, rule.period
  if current + cost <= capacity then
    return start + faded_after(previous, capacity - current - cost, period) - now
  end
  return start + period + faded_after(current, capacity - cost, period) - now
end

local windows = {
  take = function(state, rule, cost, now)
    local start, current, previous = windows_at(state, rule, now)
    local period = rule.period
    local limit = rule.capacity * period
    local weight = current * period + previous * (period - max(0, now - start))
    local retry = 0
    if cost > 0 then
      if weight + cost * period > limit then
        retry = max(1, windows_retry(start, current, previous, rule, cost, now))
      else
        current, weight = current + cost, weight + cost * period
        state = windows_state(start, current, previous, rule)
      end
    end
    local reset = 0
    if current > 0 then
      reset = start + 2 * period - now
    elseif previous > 0 then
      reset = start + period - now
    end
    return state, max(0, floor((limit - weight) / period)), reset, retry
  end,

  correct = function(state, rule, amount, taken, now)
    local start, current, previous = windows_at(state, rule, now)
    current, previous = count(start, current, previous, rule, taken, amount)
    return windows_state(start, current, previous, rule)
  end,
}

return { [0] = bucket, [1] = fixed, [2] = windows }
