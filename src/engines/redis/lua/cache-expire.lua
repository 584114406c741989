--[[
  Limits the remaining life of a value, and ends fills.

  Input
    keys  value, fill, tags, and the number of the last notice, if it is in the same slot
    args  1 maximum remaining life in ms, 2 channel, 3 text of the notice
]]
return function(keys, args)
  redis.call('DEL', keys[2])
  local left = redis.call('PTTL', keys[1])
  if cache_set.fits(keys[1]) and (left == -1 or left > tonumber(args[1])) then
    redis.call('PEXPIRE', keys[1], args[1])
    redis.call('PEXPIRE', keys[3], args[1])
  end
  if keys[4] then cache_value.tell(keys[4], args[2], args[3]) end
end
