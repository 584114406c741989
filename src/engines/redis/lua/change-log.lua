--[[
  The log of a shard: a stream with ids SEQUENCE-MARK, without gaps in SEQUENCE. The mark is a random number of the
  writer. If a failover loses entries and their numbers are used again, readers detect it by the mark.

  append(stateKey, logKey, entry, mark, maxBytes, channel, listId) -> sequence
    adds one entry (see src/guards/allowlist/changes/entry.ts), trims the oldest beyond maxBytes, notifies followers
  added(addedAt, expiresAt, key) / removed(key) -> the bytes of one item of an entry
    addedAt and expiresAt in ms (expiresAt 0: never), key as customer-key.ts writes it

  State fields: sequence, mark, logStart (first number stored), logBytes.
]]
local AT_ONCE = 64

local function numberOf(entry)
  return tonumber(string.match(entry[1], '^%d+'))
end

local function bytesOf(logKey)
  local bytes, from = 0, '-'
  repeat
    local entries = redis.call('XRANGE', logKey, from, '+', 'COUNT', AT_ONCE)
    for i = 1, #entries do
      bytes = bytes + #entries[i][2][2]
      from = '(' .. entries[i][1]
    end
  until #entries < AT_ONCE
  return bytes
end

-- The last entry always stays: a follower at this position must be able to continue.
local function trimmed(logKey, first, sequence, bytes, maxBytes)
  while bytes > maxBytes and first < sequence do
    local oldest = redis.call('XRANGE', logKey, '-', '+', 'COUNT', AT_ONCE)
    if numberOf(oldest[1]) ~= first then
      -- An operator has trimmed the stream too. The outdated count would keep the log short for ever.
      first, bytes = numberOf(oldest[1]), bytesOf(logKey)
    else
      for i = 1, #oldest do
        if bytes <= maxBytes or first >= sequence then break end
        bytes = bytes - #oldest[i][2][2]
        first = numberOf(oldest[i]) + 1
      end
      redis.call('XTRIM', logKey, 'MINID', string.format('%.0f', first))
    end
  end
  return first, bytes
end

local function append(stateKey, logKey, entry, mark, maxBytes, channel, listId)
  local state = redis.call('HMGET', stateKey, 'sequence', 'logStart', 'logBytes')
  local sequence = tonumber(state[1] or 0) + 1
  redis.call('XADD', logKey, string.format('%.0f-%.0f', sequence, mark), 'e', entry)
  local first, bytes = trimmed(logKey, tonumber(state[2] or 1), sequence, tonumber(state[3] or 0) + #entry, maxBytes)
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
