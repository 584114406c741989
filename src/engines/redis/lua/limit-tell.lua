--[[
  Tells all instances of something, numbered without gaps, so that they notice what they missed.

  Input
    keys  the number of the last notice
    args  channel, text
]]
return function(keys, args)
  redis.call('PUBLISH', args[1], redis.call('INCR', keys[1]) .. ' ' .. args[2])
end
