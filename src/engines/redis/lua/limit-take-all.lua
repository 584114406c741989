--[[
  Several limits, logs or two subjects: the part of `limit-take` for items that are not the usual one.

  Input   the item's first key, a plan for each subject, the time, whether nothing is to be consumed; the reply so far,
          and its length
  Output  the new length of the reply

  Loads `limit-row`.
]]
local SUBJECTS = KEYS_PER_ITEM == 4 and 2 or 1
local WIDTH = KEYS_PER_ITEM / SUBJECTS
local HEAD = 3 -- numbers before those of its limits
local limit_row = limit_row()
local get, put = limit_row.get, limit_row.put
-- Of the item at hand, for each of its subjects; and whether the clock was set back since they were written.
local rows, are_rewound = {}, {}

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

-- What is asked for begins anew at the present where the clock was set back: also where nothing is taken, because the wait
-- would last until the time before the step.
local function rewind(row, rules, now)
  local is_rewound = false
  for i = 1, #rules do
    if rules[i].amount > 0 and limit_row.rewind(row, rules[i], now) then is_rewound = true end
  end
  return is_rewound
end

-- Tells what each limit says, from a place of the answer on, and puts into the row what is to be kept if all admit it;
-- answers whether they do.
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

local function take(answer, at, row, rules, key, log, now, is_rewound)
  local longest = 0
  for i = 1, #rules do
    local rule, told = rules[i], at + i * 3
    if answer[told] == 0 and rule.amount > 0 then
      local admit = rule.algorithm.admit
      if admit ~= nil then admit(rule, now, log, get(row, rule)) end
      longest = math.max(longest, answer[told - 1])
    end
  end
  if longest > 0 or is_rewound then limit_row.write(key, log, row, now + longest, now) end
end

-- If one limit denies, nothing is consumed: reports the limits from a row without the changes.
local function deny(answer, at, rules, key, log, now)
  local row = limit_row.read(key)
  local is_rewound = rewind(row, rules, now)
  for i = 1, #rules do
    local rule, told = rules[i], at + i * 3
    if answer[told] == 0 and rule.amount > 0 then
      answer[told - 2], answer[told - 1] = rule.algorithm.take(rule, 0, now, log, get(row, rule))
    end
  end
  if is_rewound then limit_row.write(key, log, row, now, now) end
end

return function(first_key, plans, now, is_look, answer, last)
  local allowed, at = not is_look, last + HEAD
  for i = 1, SUBJECTS do
    refuse_foreign(log_key(first_key, i))
    rows[i] = limit_row.read(row_key(first_key, i))
    are_rewound[i] = rewind(rows[i], plans[i], now)
    local admits = judge(answer, at, rows[i], plans[i], log_key(first_key, i), now)
    allowed = allowed and admits
    at = at + #plans[i] * 3
  end
  local told = last + HEAD
  for i = 1, SUBJECTS do
    local key, log = row_key(first_key, i), log_key(first_key, i)
    if allowed then
      take(answer, told, rows[i], plans[i], key, log, now, are_rewound[i])
    else
      deny(answer, told, plans[i], key, log, now)
    end
    told = told + #plans[i] * 3
  end
  answer[last + 1], answer[last + 2], answer[last + 3] = allowed and 1 or 0, now, (at - last - HEAD) / 3
  return at
end
