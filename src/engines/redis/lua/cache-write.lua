--[[
  Stores a value unconditionally, and ends fills.

  Input
    keys  value, fill, tags, and the number of the last notice, if it is in the same slot
    args  1 value, 2 life in ms, 3 tags between spaces or '', 4 channel, 5 text of the notice
]]
return function(keys, args)
  if not cache_set.fits(keys[1]) then return redis.error_reply('WRONGTYPE a key holds something else') end
  redis.call('DEL', keys[2])
  cache_value.put(keys, args[1], args[2], args[3])
  if keys[4] then cache_value.tell(keys[4], args[4], args[5]) end
end
