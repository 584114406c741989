--[[
  Writes the key of one revocation, which other programs read. It never shortens or weakens an existing one.

  Input
    keys  the key
    args  expiry in ms, not before in ms (for a subject)
]]
return function(keys, args)
  local known = redis.call('GET', keys[1])
  local value, expires = tonumber(args[2] or args[1]), tonumber(args[1])
  if known then
    local ends = redis.call('PEXPIRETIME', keys[1])
    expires = math.max(expires, ends)
    if not tonumber(known) then
      -- The value of another program stays, and its expiry is extended if needed.
      if ends >= 0 then redis.call('PEXPIREAT', keys[1], string.format('%.0f', expires)) end
      return
    end
    value = math.max(value, tonumber(known))
  end
  redis.call('SET', keys[1], string.format('%.0f', value), 'PXAT', string.format('%.0f', expires))
end
