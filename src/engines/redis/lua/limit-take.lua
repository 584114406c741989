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

local function tell(answer, remaining, reset, retry)
  local n = #answer
  answer[n + 1], answer[n + 2], answer[n + 3] = remaining, reset, retry
end

local function deny(answer, row, log_key, rules, now)
  for _, rule in ipairs(rules) do
    local remaining, reset, retry = judge(row, log_key, rule, rule.amount, now)
    -- What would have been admitted is not taken either: told as it stands.
    if retry == 0 then remaining, reset = judge(row, log_key, rule, 0, now) end
    tell(answer, remaining, reset, retry)
  end
end

local function take(answer, row, key, log_key, rules, now)
  local longest = 0
  for _, rule in ipairs(rules) do
    local remaining, reset, retry, a, b, c, d = judge(row, log_key, rule, rule.amount, now)
    if retry == 0 and rule.amount > 0 then
      admit(row, log_key, rule, now, a, b, c, d)
      if reset > longest then longest = reset end
    end
    tell(answer, remaining, reset, retry)
  end
  if longest > 0 then limit_row.write(key, log_key, row, now + longest, now) end
end

local function is_allowed(row, log_key, rules, now)
  for _, rule in ipairs(rules) do
    if rule.extra == 0 and select(3, judge(row, log_key, rule, rule.amount, now)) > 0 then return false end
  end
  return true
end

return function(keys, args)
  local subjects = #keys == 4 and 2 or 1
  local now = limit_plan.now(args[subjects + 1])
  local allowed = args[subjects + 2] ~= 'look'
  local rules = limit_plan.of(args[1])
  if subjects == 1 and #rules == 1 and allowed then return take_one(keys[1], keys[2], rules[1], now) end

  local width = #keys / subjects
  local rows, logs, plans = {}, {}, {}
  for i = 1, subjects do
    rows[i] = limit_row.read(keys[(i - 1) * width + 1])
    if width == 2 then logs[i] = keys[i * 2] end
    plans[i] = limit_plan.of(args[i])
    allowed = allowed and is_allowed(rows[i], logs[i], plans[i], now)
  end
  local answer = { allowed and 1 or 0, now }
  for i = 1, subjects do
    if allowed then
      take(answer, rows[i], keys[(i - 1) * width + 1], logs[i], plans[i], now)
    else
      deny(answer, rows[i], logs[i], plans[i], now)
    end
  end
  return answer
end
