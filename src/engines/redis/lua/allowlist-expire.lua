--[[
  Removes expired members.

  Input
    keys  those of the shard (shard.lua)
    args  1 incarnation, 2 generation, 3 now in ms, 4 mark, 5 maximum bytes of the log, 6 channel, 7 list id, then
          customer id and its key, for each customer

  Output
    { `expired`, removed customers }
    { refusal }: `gone`, `stale` or `frozen`; nothing was changed
]]
return function(keys, args)
  local it = shard.read(keys)
  local refusal = shard.refusal(it, args[1], args[2])
  if refusal then return { refusal } end
  local now = tonumber(args[3])
  local items = {}
  for i = 8, #args, 2 do
    local customer = args[i]
    local attributes = redis.call('HGET', it.keys.attributes, customer)
    if shard.isExpired(attributes, now) then
      if shard.drop(it, customer) then
        items[#items + 1] = change_log.removed(args[i + 1])
      end
    else
      local expiresAt = attributes and string.match(attributes, '^%d+,(%d+)')
      if expiresAt then
        redis.call('ZADD', it.keys.expiries, expiresAt, customer)
      else
        redis.call('ZREM', it.keys.expiries, customer)
      end
    end
  end
  if #items > 0 then
    shard.commit(it, table.concat(items), now, tonumber(args[4]), tonumber(args[5]), args[6], args[7])
  end
  return { 'expired', #items }
end
