--[[
  Extends a lease, and the record too if it would expire earlier.

  Input
    keys  main key and state
    args  owner, the caller's time or '', lease in ms

  Output  1, or 0 if the owner no longer holds it

  Runs after `clock` and `idempotency-record`.
]]
local record = idempotency_record

return function(keys, args)
  local now = record.now(args[2])
  local status, ends = record.owned(keys[2], args[1], now)
  if status ~= record.IN_PROGRESS or redis.call('EXISTS', keys[1]) == 1 then return 0 end
  record.extend(keys[2], now, now + args[3], ends)
  return 1
end
