--[[
  Upkeep has looked at a list: moves the moment at which it must look again, unless somebody asked for it meanwhile.

  Input
    keys  lists by the moment
    args  1 list id, 2 the moment that upkeep came for, 3 the next one (empty: none is known)

  Output
    1 when it was moved
]]
return function(keys, args)
  local noted = redis.call('ZSCORE', keys[1], args[1])
  if not noted or tonumber(noted) ~= tonumber(args[2]) then return 0 end
  if args[3] == '' then
    redis.call('ZREM', keys[1], args[1])
  else
    redis.call('ZADD', keys[1], args[3], args[1])
  end
  return 1
end
