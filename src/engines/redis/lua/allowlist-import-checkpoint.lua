--[[
  Renews the lease of an import, and stores its progress.

  Input
    KEYS  meta, imports
    ARGV  incarnation, import id, owner, now, end of the lease, checkpoint or ''

  Output
    'stored' | 'lost' | 'list-not-found'
]]
local imports = allowlist_import_claim

return function(keys, args)
  local claim, refusal = imports.owned(keys[1], keys[2], args[1], args[2], args[3])
  if claim == nil then return refusal end
  claim.updatedAt = args[4]
  claim.leaseUntil = tonumber(args[5])
  imports.write(keys[2], args[2], claim)
  if args[6] ~= '' then
    redis.call('HSET', keys[2], args[2], args[6])
    redis.call('HDEL', keys[2], args[2] .. '#moved')
  end
  return 'stored'
end
