--[[
  Stores revocations, and appends them to the log. Of two for the same token or subject the later times win.

  Input
    keys  tokens (a sorted set, by expiry), subjects (the same), marks (a hash: not before, by subject), uncopied (a
          sorted set, by time of revocation), log, state of the log
    args  log entry, a mark of this write, maximum bytes of the log, channel, the caller's time; then for each: kind (t
          or s), id, expiry in ms, not before in ms (for a subject)

  Runs after `change-log`.
]]
local function later(one, other)
  return string.format('%.0f', math.max(tonumber(one), tonumber(other or 0)))
end

return function(keys, args)
  for i = 6, #args, 4 do
    local kind, id = args[i], args[i + 1]
    if kind == 't' then
      redis.call('ZADD', keys[1], 'GT', args[i + 2], id)
    else
      redis.call('ZADD', keys[2], 'GT', args[i + 2], id)
      redis.call('HSET', keys[3], id, later(args[i + 3], redis.call('HGET', keys[3], id) or nil))
    end
    redis.call('ZADD', keys[4], args[5], kind .. ':' .. id)
  end
  change_log.append(keys[6], keys[5], args[1], tonumber(args[2]), tonumber(args[3]), args[4], 'tokens')
end
