--[[
  Removes a value that has a tag, or may have it, and ends fills, which may be about to store it with the tag.

  Input
    keys  value, fill, tags
    args  tag between spaces
]]
return function(keys, args)
  redis.call('DEL', keys[2])
  local tags = redis.call('GET', keys[3])
  if tags and not string.find(tags, args[1], 1, true) then return end
  redis.call('UNLINK', keys[3])
  -- A value of another type belongs to another program.
  if redis.call('TYPE', keys[1]).ok == 'string' then redis.call('UNLINK', keys[1]) end
end
