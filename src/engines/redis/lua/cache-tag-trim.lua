--[[
  Drops members of a tag that are gone.

  Input
    keys  members
]]
return function(keys)
  if redis.call('TYPE', keys[1]).ok == 'zset' then
    redis.call('ZREMRANGEBYSCORE', keys[1], '-inf', clock.nowMs())
  end
end
