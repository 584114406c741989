--[[
  Reads a record.

  Input
    keys  main key and state
    args  the caller's time or '' for the server's

  Output  a found record as in `idempotency-claim`; nil if there is none

  Runs after `clock` and `idempotency-record`.
]]
local record = idempotency_record

return function(keys, args)
  local now = record.now(args[1])
  local state, expired = record.read(keys[2], now)
  local status = string.byte(state or expired or '')
  if status ~= record.COMPLETED then
    local response, ends = record.foreign(keys[1], now)
    if response then return { 3, now, ends, response } end
  end
  return state and { 0, now, state, record.response(keys[1], state) }
end
