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
  local state = record.read(keys[2], now)
  if state == nil or state[4] ~= args[1] then return 0 end
  if state[1] == 'COMPLETED' then return 1 end
  if state[1] ~= 'IN_PROGRESS' then return 0 end

  local fields = { 'status', 'COMPLETED', 'updatedAt', record.text(now) }
  if args[4] then
    if not record.put_response(keys[1], args[5], tonumber(state[8]), now) then return 0 end
    fields[5], fields[6] = 'encoding', args[4]
  elseif redis.call('EXISTS', keys[1]) == 1 then
    return 0
  end
  if args[3] ~= '' then
    fields[#fields + 1] = 'omittedBytes'
    fields[#fields + 1] = args[3]
  end
  redis.call('HSET', keys[2], unpack(fields))
  redis.call('HDEL', keys[2], 'leaseUntil')
  return 1
end
