--[[
  Changes fields of a stored API key.

  Input
    keys  the keys by name
    args  name, hash, the fields as JSON; null removes a field

  Output
    1, or 0 if there is no key of this name with this hash
]]
return function(keys, args)
  local text = redis.call('HGET', keys[1], args[1])
  if not text then return 0 end
  local record = cjson.decode(text)
  if record.hash ~= args[2] then return 0 end
  for field, value in pairs(cjson.decode(args[3])) do
    if value == cjson.null then record[field] = nil else record[field] = value end
  end
  redis.call('HSET', keys[1], args[1], cjson.encode(record))
  return 1
end
