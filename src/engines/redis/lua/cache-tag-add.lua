--[[
  Notes that a key will have a tag, before it has it, and drops those that are gone.

  Input
    keys  members, mark
    args  1 key, 2 life in ms

  Output
    the mark: no fill that began before this number may store with the tag; -1 when it was not removed
]]
local SLACK_MS = 60000

return function(keys, args)
  local now = clock.nowMs()
  redis.call('ZREMRANGEBYSCORE', keys[1], '-inf', now)
  redis.call('ZADD', keys[1], 'GT', now + tonumber(args[2]) + SLACK_MS, args[1])
  return tonumber(redis.call('GET', keys[2]) or -1)
end
