--[[
  Takes from all limits of one subject, or of two that share a slot, or from none.

  Input
    keys  for each subject: its row and, unless no limit of the call keeps a log, its log
    args  a plan for each subject (amount: the cost, extra: 1 in shadow mode),
          the caller's time, or nothing: this server's,
          `look` when nothing is to be taken whatever is found

  Output
    whether all was taken, the time, then remaining, resetMs and retryAfterMs of each limit

  Runs after `limit-plan`, `limit-counts`, `limit-row` and, where there are logs, `limit-log`.
]]
local LOG = 3
local counts, get, set = limit_counts, limit_row.get, limit_row.set

local function judge(row, log_key, rule, cost, now)
  if rule.kind >= LOG then return limit_log.take(log_key, rule, cost, now, (get(row, rule))) end
  return counts[rule.kind].take(rule, cost, now, get(row, rule))
end

-- Keeps in the row what a limit admitted.
local function admit(row, log_key, rule, now, a, b, c, d)
  if rule.kind < LOG then return set(row, rule, a, b, c, d) end
  limit_log.admit(log_key, rule, rule.amount, now, b)
  set(row, rule, a)
end

-- Most calls: one limit of one subject.
local function take_one(key, log_key, rule, now)
  local row = limit_row.read(key)
  local remaining, reset, retry, a, b, c, d = judge(row, log_key, rule, rule.amount, now)
  if retry == 0 and rule.amount > 0 then
    admit(row, log_key, rule, now, a, b, c, d)
    limit_row.write(key, log_key, row, now + reset, now)
  end
  return { (retry == 0 or rule.extra == 1) and 1 or 0, now, remaining, reset, retry }
end

-- Tells what each limit says, and answers whether all admit it, with the states that are then to be kept.
local function judge_all(answer, row, log_key, rules, now)
  local allowed, states, n = true, {}, #answer
  for i = 1, #rules do
    local rule = rules[i]
    local at = i * 4 - 3
    answer[n + 1], answer[n + 2], answer[n + 3], states[at], states[at + 1], states[at + 2], states[at + 3] =
      judge(row, log_key, rule, rule.amount, now)
    if answer[n + 3] > 0 and rule.extra == 0 then allowed = false end
    n = n + 3
  end
  return allowed, states
end

local function take(answer, first, row, key, log_key, rules, states, now)
  local longest = 0
  for i = 1, #rules do
    local rule, at, told = rules[i], i * 4 - 3, first + i * 3
    if answer[told] == 0 and rule.amount > 0 then
      admit(row, log_key, rule, now, states[at], states[at + 1], states[at + 2], states[at + 3])
      longest = math.max(longest, answer[told - 1])
    end
  end
  if longest > 0 then limit_row.write(key, log_key, row, now + longest, now) end
end

-- What would have been admitted is not taken either: told as it stands.
local function deny(answer, first, row, log_key, rules, now)
  for i = 1, #rules do
    local told = first + i * 3
    if answer[told] == 0 and rules[i].amount > 0 then
      answer[told - 2], answer[told - 1] = judge(row, log_key, rules[i], 0, now)
    end
  end
end

return function(keys, args)
  local subjects = #keys == 4 and 2 or 1
  local now = limit_plan.now(args[subjects + 1])
  local allowed = args[subjects + 2] ~= 'look'
  local rules = limit_plan.of(args[1])
  if subjects == 1 and #rules == 1 and allowed then return take_one(keys[1], keys[2], rules[1], now) end

  local width = #keys / subjects
  local answer, rows, plans, states, firsts = { 0, now }, {}, {}, {}, {}
  for i = 1, subjects do
    rows[i], plans[i], firsts[i] = limit_row.read(keys[(i - 1) * width + 1]), limit_plan.of(args[i]), #answer
    local admits
    admits, states[i] = judge_all(answer, rows[i], keys[i * width], plans[i], now)
    allowed = allowed and admits
  end
  for i = 1, subjects do
    local log_key = width == 2 and keys[i * 2] or nil
    if allowed then
      take(answer, firsts[i], rows[i], keys[(i - 1) * width + 1], log_key, plans[i], states[i], now)
    else
      deny(answer, firsts[i], rows[i], log_key, plans[i], now)
    end
  end
  if allowed then answer[1] = 1 end
  return answer
end
