--[[
  Adds a key to a tag, before its value is stored, and removes keys of expired entries.

  Input
    keys  members, mark
    args  1 key, 2 life in ms

  Output
    the mark: a fill that began before this number may not store with the tag; -1 if the tag was not removed
]]
local SLACK_MS = 60000

return function(keys, args)
  local now = clock.nowMs()
  redis.call('ZREMRANGEBYSCORE', keys[1], '-inf', now)
  redis.call('ZADD', keys[1], 'GT', now + tonumber(args[2]) + SLACK_MS, args[1])
  return tonumber(redis.call('GET', keys[2]) or -1)
end
