--[[
  Removes a value, and ends fills.

  Input
    keys  value, fill, tags, and the number of the last notice, if it is in the same slot
    args  channel, text of the notice

  Output
    1 if there was a value
]]
return function(keys, args)
  redis.call('DEL', keys[2], keys[3])
  -- A value of another type belongs to another program.
  local removed = cache_set.fits(keys[1]) and redis.call('UNLINK', keys[1]) or 0
  if keys[4] then cache_value.tell(keys[4], args[1], args[2]) end
  return removed
end
