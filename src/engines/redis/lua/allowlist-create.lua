--[[
  Creates a list, unless its id exists.

  Input
    keys  metadata; attributes, state and log of a single shard
    args  1 incarnation, 2 shards, 3 now in ms, 4 channel, 5 list id, then names and values of further fields

  Output
    `created`, `exists` or `being-deleted`
]]
return function(keys, args)
  local meta, attributes, state, log = keys[1], keys[2], keys[3], keys[4]
  if redis.call('EXISTS', meta) == 1 then
    return redis.call('HEXISTS', meta, 'deleted') == 1 and 'being-deleted' or 'exists'
  end
  redis.call('HSET', meta, 'incarnation', args[1], 'shards', args[2], 'version', '1', 'generation', '0',
    'lastGeneration', '0', 'layout', '0', 'createdAt', args[3], 'updatedAt', args[3])
  for i = 6, #args, 2 do
    redis.call('HSET', meta, args[i], args[i + 1])
  end
  if args[2] == '1' then
    redis.call('DEL', attributes, state, log)
    redis.call('HSET', attributes, '#generation', args[1] .. '.0')
    redis.call('HSET', state, 'incarnation', args[1], 'generation', '0', 'count', '0', 'updatedAt', args[3])
  end
  redis.call('PUBLISH', args[4], '!' .. args[5])
  return 'created'
end
