--[[
  Opens the next generation of a shard for the file of a replace. From now on, single writes go to both generations.

  Input
    keys  those of the shard (shard.lua), writers, old
    args  1 incarnation, 2 generation that the list has, 3 generation that the replace builds, 4 import id, 5 owner

  Output
    'open' | 'gone' | 'stale' | 'frozen', or 'leftover': data of an earlier replace must be removed first
]]
return function(keys, args)
  local it, writers, old = shard.read(keys), keys[11], keys[12]
  local refusal = shard.refusal(it, args[1], args[2])
  if refusal then return refusal end
  if it.next ~= args[3] then
    local names = it.keys
    if it.next or redis.call('EXISTS', names.next, names.nextAttributes, names.nextExpiries, names.touched, old) > 0 then
      return 'leftover'
    end
    redis.call('HSET', names.state, 'next', args[3], 'shared', '0')
  end
  redis.call('HSET', writers, args[4], args[5])
  redis.call('HDEL', writers, args[4] .. '#batch')
  return 'open'
end
