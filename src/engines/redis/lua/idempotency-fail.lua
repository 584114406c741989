--[[
  Ends a claim without a response: any caller may claim again at once.

  Input
    keys  main key and state
    args  owner, the caller's time or '', `fail` or `release` (which deletes the record of a first attempt), and
          optionally the reason

  Output  1, or 0 if the owner no longer holds it

  Runs after `clock` and `idempotency-record`.
]]
local record = idempotency_record

return function(keys, args)
  local now = record.now(args[2])
  local status, _, state = record.owned(keys[2], args[1], now)
  if status == record.FAILED then return 1 end
  if status ~= record.IN_PROGRESS or redis.call('EXISTS', keys[1]) == 1 then return 0 end

  local _, _, _, attempt = record.parts(state)
  if args[3] == 'release' and attempt == 1 then
    redis.call('DEL', keys[2])
    return 1
  end
  record.finish(keys[2], 'FAILED      ', now, args[4])
  return 1
end
