--[[
  Deletes the record of an import that has not changed for long.

  Input
    KEYS  imports
    ARGV  import id, time before which its last change must be

  Output
    1 if it was deleted, else 0
]]
local imports = allowlist_import_claim

return function(keys, args)
  local claim = imports.read(keys[1], args[1])
  if claim == nil or tonumber(claim.updatedAt) >= tonumber(args[2]) then return 0 end
  redis.call('HDEL', keys[1], args[1], args[1] .. '#claim', args[1] .. '#moved')
  return 1
end
