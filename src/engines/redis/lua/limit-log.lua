--[[
  Sliding window and concurrency: the admissions, in a sorted set that all logs of a subject share. Members are
  `name:millisecond:amount`, all of score 0, so that they sort by name and time. The state is their total.

  If the set was deleted, or a limit has members but no state, they are outdated and do not count.

    take(rule, cost, now, key, total)               remaining, resetMs, retryAfterMs, total, first that counts
    admit(rule, now, key, total, since)             writes what `take` has decided
    correct(rule, amount, taken, now, key, total)   total to store; nil if nothing is left
]]
local max = math.max
local format, match = string.format, string.match
local NEVER = 9007199254740991

local function from(rule, time) return format('[%s:%016.0f', rule.name, max(0, time)) end
local function below(rule, time) return format('(%s:%016.0f', rule.name, max(0, time)) end
-- `;` follows `:`
local function beyond(rule) return '(' .. rule.name .. ';' end

local function time_and_amount(member)
  local time, amount = match(member, ':(%d+):(%d+)$')
  return tonumber(time), tonumber(amount)
end

local function latest_of(key, rule)
  return redis.call('ZREVRANGEBYLEX', key, beyond(rule), from(rule, 0), 'LIMIT', 0, 1)[1]
end

-- The current total, its latest time, and the time from which on members count.
local function living(key, rule, now, total)
  if total == nil then return 0, nil, NEVER end
  local latest = latest_of(key, rule)
  if latest == nil then return 0, nil, NEVER end
  latest = time_and_amount(latest)
  local since = now - rule.period + 1
  if latest < since then return 0, nil, NEVER end
  for _, member in ipairs(redis.call('ZRANGEBYLEX', key, from(rule, 0), below(rule, since))) do
    total = total - select(2, time_and_amount(member))
  end
  return total, latest, since
end

-- When this amount is freed.
local function freed_at(key, rule, since, amount, latest)
  local freed, next_time = 0, since
  while true do
    local members = redis.call('ZRANGEBYLEX', key, from(rule, next_time), beyond(rule), 'LIMIT', 0, 100)
    if #members == 0 then return latest + rule.period end
    for _, member in ipairs(members) do
      local time, of_it = time_and_amount(member)
      freed = freed + of_it
      if freed >= amount then return time + rule.period end
      next_time = time + 1
    end
  end
end

local function drop_dead(key, rule, since)
  redis.call('ZREMRANGEBYLEX', key, from(rule, 0), below(rule, since))
end

-- Adds to what was admitted at a time, and returns the actual change.
local function add(key, rule, time, amount)
  local known = redis.call('ZRANGEBYLEX', key, from(rule, time), below(rule, time + 1))[1]
  local before = 0
  if known ~= nil then
    before = select(2, time_and_amount(known))
    redis.call('ZREM', key, known)
  end
  local after = max(0, before + amount)
  if after > 0 then redis.call('ZADD', key, 0, format('%s:%016.0f:%.0f', rule.name, time, after)) end
  return after - before
end

return {
  take = function(rule, cost, now, key, total)
    local used, latest, since = living(key, rule, now, total)
    local retry = 0
    if cost > 0 then
      local missing = used + cost - rule.capacity
      if missing > 0 then
        retry = freed_at(key, rule, since, missing, latest) - now
      else
        used = used + cost
        latest = max(latest or now, now)
      end
    end
    local reset = 0
    if latest ~= nil then reset = latest + rule.period - now end
    return max(0, rule.capacity - used), reset, retry, used, since
  end,

  admit = function(rule, now, key, _, since)
    drop_dead(key, rule, since)
    add(key, rule, now, rule.amount)
  end,

  -- Admissions that have left the window no longer count. The rest is not changed: it may be counted with another
  -- rule than that of the lease.
  correct = function(rule, amount, taken, now, key, total)
    if taken <= now - rule.period then return total end
    if total == nil or latest_of(key, rule) == nil then
      drop_dead(key, rule, NEVER)
      total = 0
    end
    total = total + add(key, rule, taken, amount)
    if total == 0 then return nil end
    return total
  end,
}
