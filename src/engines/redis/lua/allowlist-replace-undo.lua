--[[
  Undoes what an abandoned replace has begun in a shard: changes no longer go to its generation, which is deleted.

  Input
    keys  state, next, next attributes, next expiries, touched
    args  1 incarnation, 2 the generation it built

  Output
    1, or 0 if another list or a later replace is there
]]
return function(keys, args)
  local state = redis.call('HMGET', keys[1], 'incarnation', 'next')
  if state[1] ~= args[1] or (state[2] and state[2] ~= args[2]) then return 0 end
  -- `nextSequence` is of version 0.1.0.
  redis.call('HDEL', keys[1], 'next', 'shared', 'nextSequence')
  redis.call('UNLINK', keys[2], keys[3], keys[4], keys[5])
  return 1
end
