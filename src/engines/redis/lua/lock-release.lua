--[[
  Releases a lock, and notifies waiters if there are any.

  Input
    keys  the lock, the waiting mark
    args  channel, name, and the owner; without an owner it is released for any holder

  Output
    1, or 0 if the owner does not hold it
]]
return function(keys, args)
  if args[3] ~= nil and redis.pcall('GET', keys[1]) ~= args[3] then return 0 end
  local freed = redis.call('DEL', keys[1])
  if redis.call('DEL', keys[2]) == 1 then redis.call('PUBLISH', args[1], args[2]) end
  return freed
end
