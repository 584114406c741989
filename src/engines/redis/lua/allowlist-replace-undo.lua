--[[
  Undoes what an abandoned replace has begun in a shard: changes no longer go to its generation, which is then deleted
  in steps.

  Input
    keys  state, next, next attributes, next expiries, touched
    args  1 incarnation, 2 the generation it built, 3 `stop`, or `clear`: delete what it built

  Output
    the last sequence number of the log when the replace began, or '' if there is nothing to undo
]]
return function(keys, args)
  local state = redis.call('HMGET', keys[1], 'incarnation', 'next', 'nextSequence')
  if state[1] ~= args[1] or (state[2] and state[2] ~= args[2]) then return '' end
  if args[3] == 'stop' then
    redis.call('HDEL', keys[1], 'next', 'shared')
    return state[3] or ''
  end
  -- Not while a later replace is building there.
  if state[2] then return '' end
  redis.call('UNLINK', keys[2], keys[3], keys[4], keys[5])
  redis.call('HDEL', keys[1], 'nextSequence')
  return ''
end
