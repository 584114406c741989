--[[
  Begins the removal of a tag: moves its members to another key, so that keys that get the tag from now on are not among
  them.

  Input
    keys  members, mark, removals, the key that they are moved to
    args  1 name of the removal, 2 the mark, 3 life of the mark in ms

  Output
    names of the unfinished removals: this one, if there are members, and those that other processes left
]]
return function(keys, args)
  local mark = math.max(tonumber(args[2]), tonumber(redis.call('GET', keys[2]) or 0))
  redis.call('SET', keys[2], string.format('%.0f', mark), 'PX', args[3])
  if redis.call('EXISTS', keys[1]) == 1 then
    redis.call('SADD', keys[3], args[1])
    redis.call('RENAME', keys[1], keys[4])
  end
  return redis.call('SMEMBERS', keys[3])
end
