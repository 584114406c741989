--[[
  Switches one shard to the generation that a replace has built. Needs change-log and shard.

  switch(it, oldKey, generation, entry, now, mark, maxBytes, channel, listId)
    it       the shard (shard.lua), whose next generation this is
    entry    the log entry for followers; '' for none
]]
local function switch(it, oldKey, generation, entry, now, mark, maxBytes, channel, listId)
  local keys = it.keys
  redis.call('UNLINK', oldKey, keys.members, keys.attributes, keys.expiries, keys.touched)
  if redis.call('EXISTS', keys.next) == 1 then redis.call('RENAME', keys.next, keys.members) end
  if redis.call('EXISTS', keys.nextExpiries) == 1 then redis.call('RENAME', keys.nextExpiries, keys.expiries) end
  redis.call('HSET', keys.nextAttributes, '#generation', it.incarnation .. '.' .. generation)
  redis.call('RENAME', keys.nextAttributes, keys.attributes)
  -- `nextSequence` and the old set are of version 0.1.0.
  redis.call('HDEL', keys.state, 'next', 'shared', 'nextSequence')
  redis.call('HSET', keys.state, 'generation', generation, 'count', redis.call('SCARD', keys.members),
    'updatedAt', string.format('%.0f', now))
  if entry ~= '' then
    shard.noteForOlder(keys, now, change_log.append(keys.state, keys.log, entry, mark, maxBytes, channel, listId))
  end
end

return { switch = switch }
