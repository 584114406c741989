--[[
  Ends a fill with its value, if it still holds the lease and none of its tags was removed since it began.

  Input
    keys  value, fill, tags, and the number of the last notice, if it is in the same slot
    args  1 token, 2 the lowest number with which a fill may store, 3 value, 4 life in ms, 5 tags between spaces or '',
          6 channel, 7 text of the notice ('' or absent: nothing is published)

  Output
    1 if it was stored
]]
return function(keys, args)
  if not cache_set.fits(keys[1]) then return redis.error_reply('WRONGTYPE a key holds something else') end
  local held = redis.call('GET', keys[2])
  if not held or cache_lease.tokenOf(held) ~= args[1] then return 0 end
  redis.call('DEL', keys[2])
  if cache_lease.numberOf(held) < tonumber(args[2]) then return 0 end
  cache_value.put(keys, args[3], args[4], args[5])
  if keys[4] and (args[7] or '') ~= '' then cache_value.tell(keys[4], args[6], args[7]) end
  return 1
end
