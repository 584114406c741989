--[[
  Makes a shard refuse changes while its list switches to other shards, or accept them again.

  Input
    keys  state
    args  1 incarnation, 2 generation, 3 owner of the move, 4 `freeze`, or `thaw`: only if that owner has frozen it

  Output
    'frozen' | 'thawed' | 'gone' | 'stale'
]]
return function(keys, args)
  local state = redis.call('HMGET', keys[1], 'incarnation', 'generation', 'frozen', 'next')
  if state[1] ~= args[1] then return 'gone' end
  if args[4] == 'thaw' then
    if state[3] == args[3] then redis.call('HDEL', keys[1], 'frozen') end
    return 'thawed'
  end
  if state[2] ~= args[2] or state[4] then return 'stale' end
  -- A mover whose lease expired would otherwise thaw what another mover has frozen.
  if state[3] and state[3] ~= args[3] then return 'stale' end
  redis.call('HSET', keys[1], 'frozen', args[3])
  return 'frozen'
end
