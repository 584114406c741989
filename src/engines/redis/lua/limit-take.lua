--[[
  Takes, for each item of a batch, from all limits of one subject, or of two that share a slot, or from none of them.
  It has a loop of its own: what items have in common is read once, and the reply is flat.

  Input
    KEYS  for each item and subject: its row and, unless no limit of the item keeps a log, its log
    ARGV  for each run of items that ask for the same: how many they are, how (see `limit-plan`), and a plan for each
          subject (amount: the cost, extra: 1 in shadow mode)

  Output
    for each item
      1 or 0, whether all was taken; the time; how many limits it has; remaining, resetMs and retryAfterMs of each
      or -1 and the message of its error

  Runs after `limit-plan`, `limit-row` and what they need. An item judges everything before its first write.
]]
local SUBJECTS = KEYS_PER_ITEM == 4 and 2 or 1
local WIDTH = KEYS_PER_ITEM / SUBJECTS
local HEAD = 3 -- numbers before those of its limits
local get, put = limit_row.get, limit_row.put

local answer, last = {}, 0
-- Of the item at hand, for each of its subjects.
local rows = {}

local function row_key(first_key, subject) return KEYS[first_key + (subject - 1) * WIDTH] end

local function log_key(first_key, subject)
  if WIDTH == 1 then return nil end
  return KEYS[first_key + subject * WIDTH - 1]
end

-- Tells what each limit says, from a place of the answer on, and puts into the row what is to be kept if all admit it;
-- answers whether they do.
local function judge(at, row, rules, log, now)
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

local function take(at, row, rules, key, log, now)
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

-- What would have been admitted is not taken either: told as it stands, in a row without it.
local function deny(at, rules, key, log, now)
  local row = limit_row.read(key)
  for i = 1, #rules do
    local rule, told = rules[i], at + i * 3
    if answer[told] == 0 and rule.amount > 0 then
      answer[told - 2], answer[told - 1] = rule.algorithm.take(rule, 0, now, log, get(row, rule))
    end
  end
end

local function take_all(first_key, plans, now, is_look)
  local allowed, at = not is_look, last + HEAD
  for i = 1, SUBJECTS do
    rows[i] = limit_row.read(row_key(first_key, i))
    local admits = judge(at, rows[i], plans[i], log_key(first_key, i), now)
    allowed = allowed and admits
    at = at + #plans[i] * 3
  end
  local told = last + HEAD
  for i = 1, SUBJECTS do
    local key, log = row_key(first_key, i), log_key(first_key, i)
    if allowed then
      take(told, rows[i], plans[i], key, log, now)
    else
      deny(told, plans[i], key, log, now)
    end
    told = told + #plans[i] * 3
  end
  answer[last + 1], answer[last + 2], answer[last + 3] = allowed and 1 or 0, now, (at - last - HEAD) / 3
  last = at
end

-- Most items: one limit of one subject, which is all that is known of it. False when it is not so.
local function take_one(key, rule, now)
  local known_end, a, b, c, d = limit_row.read_one(key, rule)
  if not known_end then return false end
  local remaining, reset, retry
  remaining, reset, retry, a, b, c, d = rule.algorithm.take(rule, rule.amount, now, nil, a, b, c, d)
  if retry == 0 and rule.amount > 0 then limit_row.write_one(key, rule, known_end, now + reset, now, a, b, c, d) end
  local at = last
  answer[at + 1], answer[at + 2], answer[at + 3], answer[at + 4], answer[at + 5], answer[at + 6] =
    (retry == 0 or rule.extra == 1) and 1 or 0, now, 1, remaining, reset, retry
  last = at + HEAD + 3
  return true
end

-- The server's own refusals begin with a code (OOM, READONLY), which is worth keeping; errors of Lua do not.
local function message_of(failure)
  if type(failure) == 'table' then return failure.err end
  return string.find(failure, '^%u+ ') and failure or 'ERR ' .. failure
end

local function fail(failure)
  -- What was told of the item before it failed.
  for i = #answer, last + 1, -1 do answer[i] = nil end
  answer[last + 1], answer[last + 2] = -1, message_of(failure)
  last = last + 2
end

local first_key = 1

local function run(items, plans, now, is_look)
  local single = WIDTH == 1 and SUBJECTS == 1 and #plans[1] == 1 and not is_look and plans[1][1]
  while items > 0 do
    if not (single and take_one(KEYS[first_key], single, now)) then take_all(first_key, plans, now, is_look) end
    first_key, items = first_key + KEYS_PER_ITEM, items - 1
  end
end

local next_argument = 1
while next_argument <= #ARGV do
  local run_ends = first_key + tonumber(ARGV[next_argument]) * KEYS_PER_ITEM
  local now, is_look = limit_plan.how(ARGV[next_argument + 1])
  local plans = {}
  for i = 1, SUBJECTS do plans[i] = limit_plan.of(ARGV[next_argument + 1 + i]) end
  next_argument = next_argument + 2 + SUBJECTS
  while first_key < run_ends do
    local ran, failure = pcall(run, (run_ends - first_key) / KEYS_PER_ITEM, plans, now, is_look)
    if not ran then
      -- The failure of one is kept from those behind it.
      fail(failure)
      first_key = first_key + KEYS_PER_ITEM
    end
  end
end
return answer
