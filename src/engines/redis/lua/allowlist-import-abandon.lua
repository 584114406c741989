--[[
  Gives up a replace whose import died: from here on it cannot switch any more.

  Input
    KEYS  meta, imports
    ARGV  now

  Output
    1 when it was given up, 0 when there is none or it lives
]]
local imports = allowlist_import_claim

return function(keys, args)
  local replacing = redis.call('HGET', keys[1], 'replacing')
  if not replacing then return 0 end
  local importId = cjson.decode(replacing).importId
  if imports.isLive(imports.read(keys[2], importId), tonumber(args[1])) then return 0 end
  redis.call('HDEL', keys[1], 'replacing')
  return 1
end
