--[[
  Reads the log of a shard after a position.

  Input
    keys  state, log, and optionally the members, to compare their count
    args  1 incarnation, 2 sequence and 3 mark of the position, 4 entries at most

  Output
    { sequence of the last entry, generation of the shard, id, bytes, id, bytes, … }, ids being SEQUENCE-MARK; nil if
    the log does not continue from the position; 0 if the number of members differs from what the log says
]]
return function(keys, args)
  local state = redis.call('HMGET', keys[1], 'incarnation', 'sequence', 'mark', 'generation', 'count')
  if state[1] ~= args[1] then return false end
  if keys[3] and redis.call('SCARD', keys[3]) ~= tonumber(state[5] or 0) then return 0 end
  local last = tonumber(state[2] or 0)
  local after = tonumber(args[2])
  if (state[2] or '0') == args[2] and (after == 0 or state[3] == args[3]) then return { last, state[4] } end
  if last < after then return false end
  -- The entry at the position itself must still exist, and be the same. Otherwise data was lost.
  local entries = redis.call('XRANGE', keys[2], after == 0 and '-' or args[2], '+', 'COUNT', tonumber(args[4]) + 1)
  local first = 1
  if after > 0 then
    if not entries[1] or entries[1][1] ~= args[2] .. '-' .. args[3] then return false end
    first = 2
  elseif not entries[1] or string.sub(entries[1][1], 1, 2) ~= '1-' then
    return false
  end
  local result = { last, state[4] }
  for i = first, #entries do
    result[#result + 1] = entries[i][1]
    result[#result + 1] = entries[i][2][2]
  end
  return result
end
