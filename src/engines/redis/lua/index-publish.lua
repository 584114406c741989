--[[
  Switches to a new index snapshot, deletes every page that it does not name, and ends the claim.

  Input
    keys  metadata, build, manifest, pages
    args  1 incarnation, 2 owner, 3 version, 4 manifest, 5 channel, 6 list id, then the names of its pages

  Output
    1, or 0 if the owner is not the builder, or a page does not exist
]]
return function(keys, args)
  local claim = redis.call('HMGET', keys[2], 'owner', 'incarnation')
  if claim[1] ~= args[2] or claim[2] ~= args[1] or not list.isAlive(keys[1], args[1]) then return 0 end
  local named = {}
  for i = 7, #args do
    if redis.call('HEXISTS', keys[4], args[i]) == 0 then return 0 end
    named[args[i]] = true
  end
  redis.call('HSET', keys[3], 'incarnation', args[1], 'version', args[3], 'manifest', args[4])
  for _, name in ipairs(redis.call('HKEYS', keys[4])) do
    if not named[name] then redis.call('HDEL', keys[4], name) end
  end
  redis.call('DEL', keys[2])
  redis.call('PUBLISH', args[5], args[6])
  return 1
end
