--[[
  Switches a list of several shards to the generation that a replace has built, and completes the import. The shards
  switch afterwards (allowlist-activate.lua).

  Input
    keys  meta, imports
    args  1 incarnation, 2 import id, 3 owner, 4 generation, 5 now in ms, 6 checkpoint, 7 channel, 8 list id

  Output
    'switched' | 'lost' | 'list-not-found'
]]
local imports = allowlist_import_claim

return function(keys, args)
  local claim, refusal = imports.owned(keys[1], keys[2], args[1], args[2], args[3])
  if claim == nil then return refusal end
  local replacing = redis.call('HGET', keys[1], 'replacing')
  if not replacing then
    -- The call was sent again because no reply came.
    local switched = claim.state == 'completed' and redis.call('HGET', keys[1], 'generation') == args[4]
    return switched and 'switched' or 'lost'
  end
  if string.format('%.0f', cjson.decode(replacing).generation) ~= args[4] then return 'lost' end
  claim.state = 'completed'
  claim.updatedAt = args[5]
  imports.write(keys[2], args[2], claim)
  redis.call('HSET', keys[2], args[2], args[6])
  redis.call('HDEL', keys[1], 'replacing')
  redis.call('HSET', keys[1], 'generation', args[4])
  redis.call('PUBLISH', args[7], '!' .. args[8])
  return 'switched'
end
