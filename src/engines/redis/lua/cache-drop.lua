--[[
  Removes a value that has a tag, or may have it; and ends fills, which may be about to store with it.

  Input
    keys  value, fill, tags
    args  tag between spaces
]]
return function(keys, args)
  redis.call('DEL', keys[2])
  local tags = redis.call('GET', keys[3])
  if tags and not string.find(tags, args[1], 1, true) then return end
  redis.call('UNLINK', keys[3])
  -- What another program keeps there is no entry of ours.
  if redis.call('TYPE', keys[1]).ok == 'string' then redis.call('UNLINK', keys[1]) end
end
