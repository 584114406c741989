--[[
  Upkeep of a list is done: sets when it is due again, unless another process set a new time meanwhile.

  Input
    keys  lists by due time
    args  1 list id, 2 the due time that upkeep came for, 3 the next one ('': none is known)

  Output
    1 if it was changed
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
