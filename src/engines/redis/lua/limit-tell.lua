--[[
  Publishes a notice to all instances, numbered without gaps, so that they detect missed ones.

  Input
    keys  the number of the last notice
    args  channel, text
]]
return function(keys, args)
  redis.call('PUBLISH', args[1], redis.call('INCR', keys[1]) .. ' ' .. args[2])
end
