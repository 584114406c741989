--[[
  Frees a lock, and tells those who wait, if somebody does.

  Input
    keys  the lock, the mark of those who wait
    args  channel, name, and the owner; without an owner it is freed whoever has it

  Output
    1, or 0 when the owner does not have it
]]
return function(keys, args)
  if args[3] ~= nil and redis.pcall('GET', keys[1]) ~= args[3] then return 0 end
  local freed = redis.call('DEL', keys[1])
  if redis.call('DEL', keys[2]) == 1 then redis.call('PUBLISH', args[1], args[2]) end
  return freed
end
