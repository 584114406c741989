--[[
  Several limits, logs or two subjects: the part of `limit-take` for items that are not the usual one.

  Input   the item's first key, a plan for each subject, the time, whether nothing is to be consumed; the reply so far,
          and its length
  Output  the new length of the reply

  Loads `limit-row`.
]]
local SUBJECTS = KEYS_PER_ITEM == 4 and 2 or 1
local WIDTH = KEYS_PER_ITEM / SUBJECTS
local BUCKET = 0
local HEAD = 3 -- numbers before those of its limits
local limit_row = limit_row()
local get, put = limit_row.get, limit_row.put
-- For each subject of the current item.
local rows = {}

local function row_key(first_key, subject) return KEYS[first_key + (subject - 1) * WIDTH] end

local function log_key(first_key, subject)
  if WIDTH == 1 then return nil end
  return KEYS[first_key + subject * WIDTH - 1]
end

-- Checked before anything is written: with two subjects, the first would be changed and the second not.
local function refuse_foreign(log)
  if log == nil then return end
  local found = redis.call('TYPE', log).ok
  if found ~= 'zset' and found ~= 'none' then error({ err = 'WRONGTYPE a log is something else' }, 0) end
end

-- Appends the result of each limit to the reply, from a position on, and puts into the row what to store if all
-- admit. Returns whether all admit.
local function judge(answer, at, row, rules, log, now)
  local admits = true
  for i = 1, #rules do
    local rule = rules[i]
    local remaining, reset, retry, a, b, c, d = rule.algorithm.take(rule, rule.amount, now, log, get(row, rule))
    answer[at + 1], answer[at + 2], answer[at + 3] = remaining, reset, retry
    if retry == 0 then
      if rule.amount > 0 then put(row, rule, a, b, c, d) end
    elseif rule.extra == 0 then
      admits = false
    end
    at = at + 3
  end
  return admits
end

local function take(answer, at, row, rules, key, log, now)
  local longest = 0
  for i = 1, #rules do
    local rule, told = rules[i], at + i * 3
    if answer[told] == 0 and rule.amount > 0 then
      local admit = rule.algorithm.admit
      if admit ~= nil then admit(rule, now, log, get(row, rule)) end
      longest = math.max(longest, answer[told - 1])
    end
  end
  if longest > 0 then limit_row.write(key, log, row, now + longest, now) end
end

-- If one limit denies, nothing is consumed: reports the limits from a row without the changes.
local function deny(answer, at, rules, key, log, now)
  local row, longest = limit_row.read(key), 0
  for i = 1, #rules do
    local rule, told = rules[i], at + i * 3
    if answer[told] == 0 and rule.amount > 0 then
      answer[told - 2], answer[told - 1] = rule.algorithm.take(rule, 0, now, log, get(row, rule))
    end
    if rule.kind == BUCKET and rule.amount > 0 and rule.algorithm.is_ahead(now, get(row, rule)) then
      local _, reset, _, a, b, c, d = rule.algorithm.take(rule, 0, now, log, get(row, rule))
      put(row, rule, a, b, c, d)
      longest = math.max(longest, reset)
    end
  end
  if longest > 0 then limit_row.write(key, log, row, now + longest, now) end
end

return function(first_key, plans, now, is_look, answer, last)
  local allowed, at = not is_look, last + HEAD
  for i = 1, SUBJECTS do
    refuse_foreign(log_key(first_key, i))
    rows[i] = limit_row.read(row_key(first_key, i))
    local admits = judge(answer, at, rows[i], plans[i], log_key(first_key, i), now)
    allowed = allowed and admits
    at = at + #plans[i] * 3
  end
  local told = last + HEAD
  for i = 1, SUBJECTS do
    local key, log = row_key(first_key, i), log_key(first_key, i)
    if allowed then
      take(answer, told, rows[i], plans[i], key, log, now)
    else
      deny(answer, told, plans[i], key, log, now)
    end
    told = told + #plans[i] * 3
  end
  answer[last + 1], answer[last + 2], answer[last + 3] = allowed and 1 or 0, now, (at - last - HEAD) / 3
  return at
end
