--[[
  A record as it is.

  Input
    keys  main key and state
    args  the caller's time, or nothing: this server's

  Output  as the record in the answer of `idempotency-claim`; nil when there is none

  Runs after `clock` and `idempotency-record`.
]]
local record = idempotency_record

return function(keys, args)
  local now = record.now(args[1])
  local state, expired = record.read(keys[2], now)
  if state ~= nil and state[1] == 'COMPLETED' then return record.view(keys[1], state, now) end
  local foreign = expired ~= 'COMPLETED' and record.foreign(keys[1], now)
  if foreign then return foreign end
  return state and record.view(keys[1], state, now)
end
