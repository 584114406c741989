--[[
  Records the answer of a request, and ends the claim.

  Input
    keys  main key and state
    args  owner, the caller's time or nothing, omitted bytes or nothing,
          and, when there is a response: its encoding, the response

  Output  1, or 0 when the owner no longer has it

  Runs after `clock` and `idempotency-record`.
]]
local record = idempotency_record

return function(keys, args)
  local now = record.now(args[2])
  local status, ends = record.owned(keys[2], args[1], now)
  if status == 'COMPLETED' then return 1 end
  if status ~= 'IN_PROGRESS' then return 0 end

  local encoding = args[4] or 'none'
  if encoding == 'none' then
    if redis.call('EXISTS', keys[1]) == 1 then return 0 end
  elseif not record.put_response(keys[1], args[5], ends, now) then
    return 0
  end
  local updated = record.text(now)
  if encoding == 'json' then
    redis.call('HSET', keys[2], 'status', 'COMPLETED', 'updatedAt', updated)
  else
    redis.call('HSET', keys[2], 'status', 'COMPLETED', 'updatedAt', updated, 'encoding', encoding)
  end
  if args[3] ~= '' then redis.call('HSET', keys[2], 'omittedBytes', args[3]) end
  return 1
end
