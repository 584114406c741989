--[[
  Stores a page of a list's index.

  Input
    keys  metadata, build, pages
    args  1 incarnation, 2 owner, 3 name, 4 bytes

  Output
    1, or 0 if the owner is not the builder
]]
return function(keys, args)
  local claim = redis.call('HMGET', keys[2], 'owner', 'incarnation')
  if claim[1] ~= args[2] or claim[2] ~= args[1] or not list.isAlive(keys[1], args[1]) then return 0 end
  redis.call('HSET', keys[3], args[3], args[4])
  return 1
end
