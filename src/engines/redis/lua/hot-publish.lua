--[[
  Replaces the current hot set by the loaded one. It answers lookups only after it is confirmed.

  Input
    keys  set, control, next
    args  1 step before, 2 step after, 3 length of the lease in ms, 4 fill, 5 state, 6 position

  Output
    1, or 0 if nothing was done: another process maintains the set, or the loaded set was evicted
]]
return function(keys, args)
  if redis.call('SISMEMBER', keys[3], '##' .. args[4]) == 0 then return 0 end
  if not hot_keeping.goesOn(keys[2], args[1], args[2], args[3]) then return 0 end
  redis.call('UNLINK', keys[1])
  redis.call('RENAME', keys[3], keys[1])
  redis.call('HSET', keys[2], 'fill', args[4], 'state', args[5], 'position', args[6])
  return 1
end
