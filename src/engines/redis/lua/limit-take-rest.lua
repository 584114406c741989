--[[
  An item of `limit-take-bucket` that the general way decides: the row has other limits, another rule or kind, a time far
  ahead, or is none.

  Input   the reply so far and its length; the number of the item, the time, the time of the server, and the item's
          arguments, the cost in units
  Output  the new length of the reply

  Loads the files of `limit-take`.
]]
local answer, last, item, now, server_now, name, capacity, per_ms, per_token, cost = ...
local take_all = limit_take_all()
-- A bucket has no period of its own.
local text = string.format('%s 0 %.0f 1 %.0f %.0f %.0f 0', name, capacity, per_ms, per_token, cost / per_token)
local told = {}
limit_plan.how(now == server_now and '' or string.format('%.0f', now))
local ran, failure = pcall(take_all, item, { limit_plan.of(text) }, now, false, told, 0)
if not ran then
  local message = type(failure) == 'table' and failure.err or failure
  -- Error replies of the server begin with a code (OOM, READONLY), which is kept. Errors of Lua have none.
  if not string.find(message, '^%u+ ') then message = 'ERR ' .. message end
  answer[last + 1] = message
  return last + 1
end
local remaining, reset, retry = told[4], told[5], told[6]
if told[1] == 1 then
  answer[last + 1], answer[last + 2] = remaining, reset
  return last + 2
end
answer[last + 1], answer[last + 2], answer[last + 3] = -1 - remaining, reset, retry
return last + 3
