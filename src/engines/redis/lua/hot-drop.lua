--[[
  Ends the updates of a hot set.

  Input
    keys  set, control, fresh, next
    args  1 step before, 2 step after, 3 length of the lease in ms, 4 `drop`: the sets are deleted, or `release`: other
          processes may maintain them from now on

  Output
    1, or 0 if nothing was done: another process maintains the set
]]
return function(keys, args)
  if not hot_keeping.goesOn(keys[2], args[1], args[2], args[3]) then return 0 end
  if args[4] == 'drop' then
    redis.call('UNLINK', keys[1], keys[3], keys[4])
    redis.call('HDEL', keys[2], 'fill', 'state', 'position')
  else
    redis.call('HDEL', keys[2], 'owner', 'until', 'step')
  end
  return 1
end
