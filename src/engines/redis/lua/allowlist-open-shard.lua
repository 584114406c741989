--[[
  Gives a shard its state, if it has none or that of an earlier list: after the creation of a list with several shards,
  and after data loss. Leftovers of an earlier list are deleted; other members stay.

  Input
    keys  those of the shard (shard.lua)
    args  1 incarnation, 2 generation, 3 now in ms, 4 the sequence number to continue from, 5 its mark

  Output
    { `open`, generation, next }, or { `newer` } if the shard belongs to a later list
]]
return function(keys, args)
  local it = shard.read(keys)
  local known, wanted = tonumber(it.incarnation or 0), tonumber(args[1])
  if known > wanted then return { 'newer' } end
  if known < wanted then
    local belongsTo = redis.call('HGET', it.keys.attributes, '#generation') or ''
    local generation = string.match(belongsTo, '^' .. args[1] .. '%.(%d+)$')
    if it.incarnation then redis.call('DEL', it.keys.members) end
    if not generation then redis.call('DEL', it.keys.attributes, it.keys.expiries) end
    redis.call('DEL', it.keys.state, it.keys.log, it.keys.unindexed, it.keys.next, it.keys.nextAttributes,
      it.keys.nextExpiries, it.keys.touched)
    it.generation, it.next = generation or args[2], false
    redis.call('HSET', it.keys.state, 'incarnation', args[1], 'generation', it.generation, 'updatedAt', args[3],
      'count', redis.call('SCARD', it.keys.members))
    if args[4] ~= '0' then
      redis.call('HSET', it.keys.state, 'sequence', args[4], 'mark', args[5], 'logStart',
        string.format('%.0f', tonumber(args[4]) + 1), 'logBytes', '0')
    end
  end
  redis.call('HSET', it.keys.attributes, '#generation', args[1] .. '.' .. it.generation)
  return { 'open', it.generation, it.next or '' }
end
