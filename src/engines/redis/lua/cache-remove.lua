--[[
  Removes a value, and ends fills.

  Input
    keys  value, fill, tags, and where it is in the same slot the number of the last notice
    args  channel, text of the notice

  Output
    1 when there was a value
]]
return function(keys, args)
  redis.call('DEL', keys[2], keys[3])
  -- What another program keeps there is no entry of ours.
  local removed = cache_set.fits(keys[1]) and redis.call('UNLINK', keys[1]) or 0
  if keys[4] then cache_value.tell(keys[4], args[1], args[2]) end
  return removed
end
