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
  local state = record.read(keys[2], now)
  if state == nil or state[4] ~= args[1] or state[1] ~= 'IN_PROGRESS' then return 0 end
  if redis.call('EXISTS', keys[1]) == 1 then return 0 end

  local lease_until = now + tonumber(args[3])
  local ends = math.max(tonumber(state[8]), lease_until)
  redis.call('HSET', keys[2], 'leaseUntil', record.text(lease_until), 'updatedAt', record.text(now), 'expiresAt',
    record.text(ends))
  record.expire(keys[2], ends, now)
  return 1
end
