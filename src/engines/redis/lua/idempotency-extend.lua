--[[
  Moves the end of a lease, and with it that of the record where it would be over before.

  Input
    keys  main key and state
    args  owner, the caller's time or nothing, lease in ms

  Output  1, or 0 when the owner no longer has it

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
