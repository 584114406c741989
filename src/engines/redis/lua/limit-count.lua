--[[
  Adds to the usage of a subject, by hour or by day. Fields are `START:a:LIMIT` (admitted) and `START:d:LIMIT` (denied).

  Input
    keys  usage of the subject by this step
    args  how long a row is kept, in ms; then for each row: start, limit, admitted, denied
]]
return function(keys, args)
  local kept, key = tonumber(args[1]), keys[1]
  local newest = tonumber(redis.call('HGET', key, 'newest') or 0)
  local latest = newest
  for i = 2, #args, 4 do
    local start, limit = args[i], args[i + 1]
    redis.call('HINCRBY', key, start .. ':a:' .. limit, args[i + 2])
    redis.call('HINCRBY', key, start .. ':d:' .. limit, args[i + 3])
    latest = math.max(latest, tonumber(start))
  end
  if latest > newest then
    redis.call('HSET', key, 'newest', string.format('%.0f', latest))
    -- Once for each hour or day of a subject in use: those that are not expire as a whole.
    for _, field in ipairs(redis.call('HKEYS', key)) do
      local start = tonumber(string.match(field, '^(%d+):'))
      if start ~= nil and start < latest - kept then redis.call('HDEL', key, field) end
    end
  end
  redis.call('PEXPIRE', key, kept)
end
