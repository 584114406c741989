--[[
  The key of one revocation, as other programs read it. It never takes back what it said.

  Input
    keys  the key
    args  until when in ms, not before in ms (of a subject)
]]
return function(keys, args)
  local known = redis.call('GET', keys[1])
  local value, expires = tonumber(args[2] or args[1]), tonumber(args[1])
  if known then
    value = math.max(value, tonumber(known) or 0)
    expires = math.max(expires, redis.call('PEXPIRETIME', keys[1]))
  end
  redis.call('SET', keys[1], string.format('%.0f', value), 'PXAT', string.format('%.0f', expires))
end
