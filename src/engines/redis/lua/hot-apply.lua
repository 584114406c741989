--[[
  Applies changes to a hot set, and sets until when it is fresh.

  Input
    keys  set, control, fresh
    args  1 step before, 2 step after, 3 length of the lease in ms, 4 fill, 5 position after these changes ('' none), 6
          time in ms until which it is fresh ('' unchanged), 7 number of elements to add, 8… these, then those to remove

  Output
    1, or 0 if nothing was done: another process maintains the set, or the set is incomplete
]]
local function mark(keys, untilMs)
  local held = redis.call('HMGET', keys[2], 'fill', 'state', 'position')
  local marker = table.concat(held, ' ')
  if untilMs == '' then
    redis.call('SET', keys[3], marker, 'XX', 'KEEPTTL')
  else
    -- A time in the past deletes the key.
    redis.call('SET', keys[3], marker)
    redis.call('PEXPIREAT', keys[3], untilMs)
  end
end

return function(keys, args)
  if redis.call('HGET', keys[2], 'fill') ~= args[4] then return 0 end
  if redis.call('SISMEMBER', keys[1], '##' .. args[4]) == 0 then return 0 end
  if not hot_keeping.goesOn(keys[2], args[1], args[2], args[3]) then return 0 end
  local lastAdded = 7 + tonumber(args[7])
  if lastAdded > 7 then redis.call('SADD', keys[1], unpack(args, 8, lastAdded)) end
  if #args > lastAdded then redis.call('SREM', keys[1], unpack(args, lastAdded + 1)) end
  if args[5] ~= '' then redis.call('HSET', keys[2], 'position', args[5]) end
  if args[5] ~= '' or args[6] ~= '' then mark(keys, args[6]) end
  return 1
end
