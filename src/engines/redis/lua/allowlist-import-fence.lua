--[[
  Makes an owner the only one who may write to this shard for an import, or ends that. The result of the previous
  owner's last batch is preserved, so that it is not counted again.

  Input
    KEYS  state, writers
    ARGV  incarnation, import id, owner, or '' to end it

  Output
    'fenced' | 'gone' | 'frozen'
]]
return function(keys, args)
  local state = redis.call('HMGET', keys[1], 'incarnation', 'frozen')
  if state[1] ~= args[1] then return 'gone' end
  if state[2] then return 'frozen' end
  local importId = args[2]
  if args[3] == '' then
    redis.call('HDEL', keys[2], importId, importId .. '#batch')
    return 'fenced'
  end
  local note = redis.call('HGET', keys[2], importId .. '#batch')
  redis.call('HSET', keys[2], importId, args[3])
  -- The new owner numbers its batches from 1.
  if note then redis.call('HSET', keys[2], importId .. '#batch', (string.gsub(note, '^%d+', '0', 1))) end
  return 'fenced'
end
