--[[
  Stores a code, replacing an earlier one.

  Input
    keys  the code
    args  salt, digest, life in ms, the caller's time or '' for the server's
  Output
    when it expires, in ms

  Runs after `clock`.
]]
return function(keys, args)
  local now = tonumber(args[4]) or clock.nowMs()
  local expires = string.format('%.0f', now + tonumber(args[3]))
  -- A hash of another program is not replaced.
  if redis.call('EXISTS', keys[1]) == 1 and redis.call('HEXISTS', keys[1], 'salt') == 0 then
    return redis.error_reply('WRONGTYPE a code is something else')
  end
  redis.call('DEL', keys[1])
  redis.call('HSET', keys[1], 'salt', args[1], 'hash', args[2], 'attempts', 0, 'expiresAt', expires)
  redis.call('PEXPIREAT', keys[1], expires)
  return tonumber(expires)
end
