--[[
  For each item of a batch, consumes from all limits of one subject, or of two that share a slot, or from none of them.
  It has its own loop: what items have in common is read once, and the reply is flat.

  Input
    KEYS  for each item and subject: its row and, if a limit of the item has a log, its log
    ARGV  for each run of items with the same request: their number, how (see `limit-plan`), and a plan for each subject
          (amount: the cost, extra: 1 in shadow mode)

  Output
    for each item
      1 or 0, whether all was consumed; the time; its number of limits; remaining, resetMs and retryAfterMs of each
      or -1 and its error message

  Runs after `limit-plan` and `limit-row-one`; `limit-take-all` is loaded when it is needed. For each item, everything
  is checked before the first write.
]]
local SUBJECTS = KEYS_PER_ITEM == 4 and 2 or 1
local answer, last = {}, 0
local take_all = nil
local BUCKET = 0

-- Most items: one limit of one subject, whose row has only this limit. False if it is not so.
local function take_one(key, rule, now)
  local known_end, a, b, c, d = limit_row_one.read(key, rule)
  if not known_end then return false end
  local remaining, reset, retry
  local is_ahead = rule.kind == BUCKET and rule.extra == 0 and rule.algorithm.is_ahead(now, a, b)
  remaining, reset, retry, a, b, c, d = rule.algorithm.take(rule, rule.amount, now, nil, a, b, c, d)
  if rule.amount > 0 and (retry == 0 or is_ahead) then limit_row_one.write(key, rule, known_end, now + reset, now, a, b, c, d) end
  local at = last
  answer[at + 1], answer[at + 2], answer[at + 3], answer[at + 4], answer[at + 5], answer[at + 6] =
    (retry == 0 or rule.extra == 1) and 1 or 0, now, 1, remaining, reset, retry
  last = at + 6
  return true
end

-- Overwrites the reply of the item up to its failure.
local function fail(failure)
  local message = type(failure) == 'table' and failure.err or failure
  -- Error replies of the server begin with a code (OOM, READONLY), which is kept. Errors of Lua have none.
  if not string.find(message, '^%u+ ') then message = 'ERR ' .. message end
  answer[last + 1], answer[last + 2] = -1, message
  last = last + 2
end

local first_key = 1

local function run(items, plans, now, is_look)
  local single = KEYS_PER_ITEM == 1 and #plans[1] == 1 and not is_look and plans[1][1]
  while items > 0 do
    if not (single and take_one(KEYS[first_key], single, now)) then
      if take_all == nil then take_all = limit_take_all() end
      last = take_all(first_key, plans, now, is_look, answer, last)
    end
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
      -- The failure of one item does not affect those after it.
      fail(failure)
      first_key = first_key + KEYS_PER_ITEM
    end
  end
end
return answer
