--[[
  Moves the end of a lease, and with it that of the record where it would be over before.

  Input
    keys  main key and state
    args  owner, the caller's time or nothing, lease in ms

  Output  1, or 0 when the owner no longer has it

  Runs after `clock` and `idempotency-record`.
]]
local record = idempotency_record
local text = record.text

return function(keys, args)
  local now = record.now(args[2])
  local status, ends = record.owned(keys[2], args[1], now)
  if status ~= 'IN_PROGRESS' or redis.call('EXISTS', keys[1]) == 1 then return 0 end

  local lease_until = now + args[3]
  redis.call('HSET', keys[2], 'leaseUntil', text(lease_until), 'updatedAt', text(now))
  if lease_until > ends then
    redis.call('HSET', keys[2], 'expiresAt', text(lease_until))
    record.expire(keys[2], lease_until, now)
  end
  return 1
end
