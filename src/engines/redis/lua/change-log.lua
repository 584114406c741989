--[[
  The log of a shard: a stream whose ids are SEQUENCE-MARK, without holes in SEQUENCE. The mark is a number that the
  writer drew: if a failover loses entries and their numbers are given out again, readers notice by it.

  append(stateKey, logKey, entry, mark, maxBytes, channel, listId) -> sequence
    adds one entry (see src/changes/entry.ts), drops the oldest ones beyond maxBytes, wakes the followers
  added(addedAt, expiresAt, key) / removed(key) -> the bytes of one item of an entry
    addedAt and expiresAt in ms (expiresAt 0: never), key as customer-key.ts writes it

  State fields: sequence, mark, logStart (first number kept), logBytes.
]]
local function append(stateKey, logKey, entry, mark, maxBytes, channel, listId)
  local state = redis.call('HMGET', stateKey, 'sequence', 'logStart', 'logBytes')
  local sequence = tonumber(state[1] or 0) + 1
  local first = tonumber(state[2] or 1)
  local bytes = tonumber(state[3] or 0) + #entry
  redis.call('XADD', logKey, string.format('%.0f-%.0f', sequence, mark), 'e', entry)
  while bytes > maxBytes and first < sequence do
    local oldest = redis.call('XRANGE', logKey, '-', '+', 'COUNT', 64)
    local upTo = nil
    for i = 1, #oldest do
      if bytes <= maxBytes or first >= sequence then break end
      bytes = bytes - #oldest[i][2][2]
      -- Not counted up: an operator may have trimmed the stream too.
      first = tonumber(string.match(oldest[i][1], '^%d+')) + 1
      upTo = first
    end
    if upTo == nil then
      bytes = #entry
      first = sequence
      upTo = sequence
    end
    redis.call('XTRIM', logKey, 'MINID', string.format('%.0f', upTo))
  end
  redis.call('HSET', stateKey, 'sequence', string.format('%.0f', sequence), 'mark', string.format('%.0f', mark),
    'logStart', string.format('%.0f', first), 'logBytes', string.format('%.0f', bytes))
  redis.call('PUBLISH', channel, listId)
  return sequence
end

local function added(addedAt, expiresAt, key)
  return '\1' .. struct.pack('>I6I6', addedAt, expiresAt) .. string.char(#key - 1) .. key
end

local function removed(key)
  return '\3' .. string.char(#key - 1) .. key
end

return { append = append, added = added, removed = removed }
