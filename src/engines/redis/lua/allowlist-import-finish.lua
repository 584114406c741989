--[[
  Ends an import. A replace that has not switched can no longer switch.

  Input
    KEYS  meta, imports
    ARGV  incarnation, import id, owner, now, state, checkpoint

  Output
    'finished' | 'lost' | 'list-not-found', or 'abandoned' if what the replace built must be removed
]]
local imports = allowlist_import_claim

return function(keys, args)
  local claim, refusal = imports.owned(keys[1], keys[2], args[1], args[2], args[3])
  if claim == nil then return refusal end
  claim.state = args[5]
  claim.updatedAt = args[4]
  claim.leaseUntil = 0
  imports.write(keys[2], args[2], claim)
  redis.call('HSET', keys[2], args[2], args[6])
  redis.call('HDEL', keys[2], args[2] .. '#moved')
  local replacing = redis.call('HGET', keys[1], 'replacing')
  if not replacing or cjson.decode(replacing).importId ~= args[2] then return 'finished' end
  redis.call('HDEL', keys[1], 'replacing')
  return 'abandoned'
end
