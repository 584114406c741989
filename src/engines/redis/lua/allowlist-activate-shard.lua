--[[
  Switches one shard to the generation that a replace has built. Needs change-log.

  switch(it, oldKey, generation, entry, now, mark, maxBytes, channel, listId)
    it       the shard (shard.lua), whose next generation this is
    entry    the log entry for followers; '' for none
]]
local function switch(it, oldKey, generation, entry, now, mark, maxBytes, channel, listId)
  local keys = it.keys
  redis.call('UNLINK', oldKey, keys.attributes, keys.expiries, keys.touched)
  if redis.call('EXISTS', keys.members) == 1 then redis.call('RENAME', keys.members, oldKey) end
  if redis.call('EXISTS', keys.next) == 1 then redis.call('RENAME', keys.next, keys.members) end
  if redis.call('EXISTS', keys.nextExpiries) == 1 then redis.call('RENAME', keys.nextExpiries, keys.expiries) end
  redis.call('HSET', keys.nextAttributes, '#generation', it.incarnation .. '.' .. generation)
  redis.call('RENAME', keys.nextAttributes, keys.attributes)
  redis.call('HDEL', keys.state, 'next', 'shared', 'nextSequence')
  redis.call('HSET', keys.state, 'generation', generation, 'count', redis.call('SCARD', keys.members),
    'updatedAt', string.format('%.0f', now))
  local sequence = redis.call('HGET', keys.state, 'sequence') or '0'
  if entry ~= '' then
    sequence = change_log.append(keys.state, keys.log, entry, mark, maxBytes, channel, listId)
    sequence = string.format('%.0f', sequence)
  end
  -- Version of the reverse-index updates for customers who are no longer members.
  redis.call('HSET', keys.state, 'oldSequence', sequence)
end

return { switch = switch }
