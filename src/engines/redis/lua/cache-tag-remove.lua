--[[
  Begins the removal of a tag: sets its members aside, so that who gets the tag from now on is no longer among them.

  Input
    keys  members, mark, removals, where they are set aside
    args  1 name of the removal, 2 the mark, 3 life of the mark in ms

  Output
    names of the removals that are not done: this one, if there are members, and those that others left behind
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
