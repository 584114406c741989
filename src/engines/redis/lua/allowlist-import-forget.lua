--[[
  Drops the record of an import that nobody has touched for long.

  Input
    KEYS  imports
    ARGV  import id, moment before which it must have been touched last

  Output
    1 when it was dropped, else 0
]]
local imports = allowlist_import_claim

return function(keys, args)
  local claim = imports.read(keys[1], args[1])
  if claim == nil or tonumber(claim.updatedAt) >= tonumber(args[2]) then return 0 end
  redis.call('HDEL', keys[1], args[1], args[1] .. '#claim', args[1] .. '#moved')
  return 1
end
