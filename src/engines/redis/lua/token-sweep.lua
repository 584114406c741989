--[[
  Deletes revocations that expired before a time.

  Input
    keys  tokens, subjects, marks
    args  the time in ms, maximum number of each
  Output
    how many were deleted
]]
return function(keys, args)
  local tokens = redis.call('ZRANGEBYSCORE', keys[1], '-inf', args[1], 'LIMIT', 0, args[2])
  if #tokens > 0 then redis.call('ZREM', keys[1], unpack(tokens)) end
  local subjects = redis.call('ZRANGEBYSCORE', keys[2], '-inf', args[1], 'LIMIT', 0, args[2])
  if #subjects > 0 then
    redis.call('ZREM', keys[2], unpack(subjects))
    redis.call('HDEL', keys[3], unpack(subjects))
  end
  return math.max(#tokens, #subjects)
end
