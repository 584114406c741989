--[[
  Loads a hot set beside the current one.

  Input
    keys  next, control, fresh
    args  1 step before, 2 step after, 3 length of the lease in ms, 4 time to live in ms of a set that is not
          maintained, 5 fill, 6 `start` or `more`, 7… elements

  Output
    1, or 0 if nothing was done: another process maintains the set, or the set being loaded was evicted
]]
return function(keys, args)
  local seal = '##' .. args[5]
  if args[6] == 'more' and redis.call('SISMEMBER', keys[1], seal) == 0 then return 0 end
  if not hot_keeping.goesOn(keys[2], args[1], args[2], args[3]) then return 0 end
  if args[6] == 'start' then
    redis.call('UNLINK', keys[1], keys[3])
    redis.call('HDEL', keys[2], 'fill', 'state', 'position')
    redis.call('SADD', keys[1], seal)
  end
  if #args > 6 then redis.call('SADD', keys[1], unpack(args, 7)) end
  redis.call('PEXPIRE', keys[1], args[4])
  return 1
end
