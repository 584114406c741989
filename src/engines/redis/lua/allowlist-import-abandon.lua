--[[
  Abandons a replace whose import died: it can no longer switch. If it had switched and a failover lost that, but shards
  have followed already, the list switches again instead.

  Input
    KEYS  meta, imports
    ARGV  1 now, 2 the generation that shards have switched to, or '', 3 channel, 4 list id

  Output
    1 if it was abandoned or has switched, 0 if there is none or it is alive
]]
local imports = allowlist_import_claim

return function(keys, args)
  local text = redis.call('HGET', keys[1], 'replacing')
  if not text then return 0 end
  local replacing = cjson.decode(text)
  if imports.isLive(imports.read(keys[2], replacing.importId), tonumber(args[1])) then return 0 end
  redis.call('HDEL', keys[1], 'replacing')
  if args[2] == string.format('%.0f', replacing.generation) then
    redis.call('HSET', keys[1], 'generation', args[2])
    redis.call('PUBLISH', args[3], '!' .. args[4])
  end
  return 1
end
