--[[
  Takes from all limits of one subject, or of two that share a slot, or from none.

  Input
    keys  for each subject: its row and, unless no limit of the call keeps a log, its log
    args  a plan for each subject (amount: the cost, extra: 1 in shadow mode),
          the caller's time, or nothing: this server's,
          `look` when nothing is to be taken whatever is found

  Output
    whether all was taken, the time, then remaining, resetMs and retryAfterMs of each limit

  Runs after `limit-plan`, `limit-counts`, `limit-log` and `limit-row`.
]]
local LOG, SLOTS = 3, 4

local function judge(row, log_key, rule, cost, now)
  local state = row.states[rule.name]
  if rule.kind == LOG or rule.kind == SLOTS then return limit_log.take(log_key, state, rule, cost, now) end
  return limit_counts[rule.kind].take(state, rule, cost, now)
end

return function(keys, args)
  local subjects = #keys == 4 and 2 or 1
  local width = #keys / subjects
  local now = limit_plan.now(args[subjects + 1])
  local allowed = args[subjects + 2] ~= 'look'
  local rows, verdicts = {}, {}
  for i = 1, subjects do
    local first = (i - 1) * width + 1
    local row = limit_row.read(keys[first])
    rows[i] = row
    for _, rule in ipairs(limit_plan.of(args[i])) do
      local state, remaining, reset, retry, change = judge(row, keys[first + 1], rule, rule.amount, now)
      verdicts[#verdicts + 1] = { i, first, rule, state, remaining, reset, retry, change }
      if retry > 0 and rule.extra == 0 then allowed = false end
    end
  end

  local answer = { allowed and 1 or 0, now }
  local longest = {}
  for _, verdict in ipairs(verdicts) do
    local i, first, rule, state, remaining, reset, retry, change = unpack(verdict, 1, 8)
    if not allowed and retry == 0 and rule.amount > 0 then
      -- What would have been admitted is not taken either: told as it stands.
      local _, left, reset_now = judge(rows[i], keys[first + 1], rule, 0, now)
      remaining, reset = left, reset_now
    elseif allowed and retry == 0 and rule.amount > 0 then
      limit_row.set(rows[i], rule.name, state)
      if change ~= nil then limit_log.write(keys[first + 1], rule, change) end
      longest[i] = math.max(longest[i] or 0, reset)
    end
    answer[#answer + 1] = remaining
    answer[#answer + 1] = reset
    answer[#answer + 1] = retry
  end
  for i, ms in pairs(longest) do
    limit_row.write(keys, (i - 1) * width + 1, width, rows[i], now + ms, now)
  end
  return answer
end
