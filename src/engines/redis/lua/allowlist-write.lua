--[[
  Adds or removes one member.

  Input
    keys  those of the shard (shard.lua)
    args  1 incarnation and 2 generation of the shard that the caller has read, 3 `add` or `remove`, 4 customer id, 5
          its key (customer-key.ts), 6 tail of its attributes, 7 expiresAt in ms (0: never), 8 now in ms, 9 mark, 10
          maximum bytes of the log, 11 channel, 12 list id

  Output
    { outcome, members, sequence, mark }: `added`, `replaced`, `removed` or `absent`, with the last entry of the log
    { refusal, generation, next }: `gone`, `stale` or `frozen`; nothing was changed
]]
return function(keys, args)
  local it = shard.read(keys)
  local refusal = shard.refusal(it, args[1], args[2])
  if refusal then return { refusal, it.generation or '', it.next or '' } end
  local customer, key, now = args[4], args[5], tonumber(args[8])

  local outcome, entry
  if args[3] == 'add' then
    local wasMember, addedAt = shard.add(it, customer, args[6], args[7], now)
    outcome = wasMember and 'replaced' or 'added'
    entry = change_log.added(tonumber(addedAt), tonumber(args[7]), key)
  elseif shard.remove(it, customer) then
    outcome = 'removed'
    entry = change_log.removed(key)
  else
    local last = redis.call('HMGET', it.keys.state, 'sequence', 'mark')
    return { 'absent', redis.call('SCARD', it.keys.members), tonumber(last[1] or 0), tonumber(last[2] or 0) }
  end
  local mark = tonumber(args[9])
  local sequence, count = shard.commit(it, entry, now, mark, tonumber(args[10]), args[11], args[12])
  return { outcome, count, sequence, mark }
end
