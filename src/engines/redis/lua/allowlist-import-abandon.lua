--[[
  Gives up a replace whose import died: from here on it cannot switch any more. Where a failover has lost that it had
  switched, and shards have followed already, the list switches again instead.

  Input
    KEYS  meta, imports
    ARGV  1 now, 2 the generation that shards have switched to, or '', 3 channel, 4 list id

  Output
    1 when it was given up or has switched, 0 when there is none or it lives
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
