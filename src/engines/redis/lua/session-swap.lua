--[[
  Replaces or removes the sessions of a person, if nobody did so since they were read. A repeated swap succeeds again.

  Input
    keys  the sessions
    args  the version that was read, or '' if there was none; then, unless they are to be removed: new version, text,
          end, time to live in ms

  Output
    1, or 0 if they have another version
]]
return function(keys, args)
  local found = redis.call('HGET', keys[1], 'version') or ''
  if found ~= args[1] and found ~= (args[2] or '') then return 0 end
  if not args[2] then
    redis.call('DEL', keys[1])
    return 1
  end
  redis.call('HSET', keys[1], 'version', args[2], 'text', args[3], 'endsAt', args[4])
  redis.call('PEXPIRE', keys[1], args[5])
  return 1
end
