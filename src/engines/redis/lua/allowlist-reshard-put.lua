--[[
  Copies customers into a shard that a move fills, with the state that they have in the old shard.

  Input
    keys  state, members, attributes, expiries
    args  1 owner of the move, 2 time of the last change of the old shard, then customer and attributes for each
          customer: '' for a member without attributes, '-' for a customer who is not a member

  Output
    'stored', or 'lost' if the shard no longer belongs to this move
]]
local function drop(keys, customer)
  redis.call('SREM', keys[2], customer)
  redis.call('HDEL', keys[3], customer)
  redis.call('ZREM', keys[4], customer)
end

return function(keys, args)
  local state = redis.call('HMGET', keys[1], 'frozen', 'updatedAt')
  if state[1] ~= args[1] then return 'lost' end
  local held, fields = {}, {}
  for i = 3, #args, 2 do
    local customer, text = args[i], args[i + 1]
    if text == '-' then
      drop(keys, customer)
    else
      held[#held + 1] = customer
      if text == '' then
        redis.call('HDEL', keys[3], customer)
      else
        fields[#fields + 1] = customer
        fields[#fields + 1] = text
      end
      local expiresAt = string.match(text, '^%d+,(%d+)')
      if expiresAt then redis.call('ZADD', keys[4], expiresAt, customer) else redis.call('ZREM', keys[4], customer) end
    end
  end
  if #held > 0 then redis.call('SADD', keys[2], unpack(held)) end
  if #fields > 0 then redis.call('HSET', keys[3], unpack(fields)) end
  redis.call('HSET', keys[1], 'count', redis.call('SCARD', keys[2]))
  if tonumber(args[2]) > tonumber(state[2]) then redis.call('HSET', keys[1], 'updatedAt', args[2]) end
  return 'stored'
end
