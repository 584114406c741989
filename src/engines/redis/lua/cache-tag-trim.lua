--[[
  Removes keys of expired entries from a tag.

  Input
    keys  members
]]
return function(keys)
  if redis.call('TYPE', keys[1]).ok == 'zset' then
    redis.call('ZREMRANGEBYSCORE', keys[1], '-inf', clock.nowMs())
  end
end
