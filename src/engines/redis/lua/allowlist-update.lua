--[[
  Changes the name, the config or the labels of a list.

  Input
    keys  metadata
    args  1 required version (0: any), 2 now in ms, 3 channel, 4 list id, then names and values of fields

  Output
    { `updated`, name, value, name, value, … } with all fields, { `not-found` } or { `version-mismatch`, version }
]]
return function(keys, args)
  local meta = keys[1]
  local found = redis.call('HMGET', meta, 'version', 'deleted')
  if not found[1] or found[2] then return { 'not-found' } end
  if args[1] ~= '0' and args[1] ~= found[1] then return { 'version-mismatch', tonumber(found[1]) } end
  redis.call('HINCRBY', meta, 'version', 1)
  redis.call('HSET', meta, 'updatedAt', args[2])
  for i = 5, #args, 2 do
    redis.call('HSET', meta, args[i], args[i + 1])
  end
  redis.call('PUBLISH', args[3], '!' .. args[4])
  local result = { 'updated' }
  local fields = redis.call('HGETALL', meta)
  for i = 1, #fields do
    result[i + 1] = fields[i]
  end
  return result
end
