--[[
  Adds to the use counts of lists.

  Input
    keys  the counts
    args  1 the count above which all are halved, then list id and number of checks, for each list

  Output
    nil
]]
return function(keys, args)
  local max = tonumber(args[1])
  for i = 2, #args, 2 do
    local sum = tonumber(redis.call('ZINCRBY', keys[1], args[i + 1], args[i]))
    if sum > max then redis.call('ZADD', keys[1], string.format('%.0f', sum / 2), args[i]) end
  end
  return false
end
