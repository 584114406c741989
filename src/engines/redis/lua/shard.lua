--[[
  One shard of a list: its state, and the change of one member. Needs change-log.

  Keys: a script that uses this takes the keys of the shard first, in the order of `shardScriptKeys` (shard-script.ts):
    members, attributes, state, log, expiries, unindexed, next, nextAttributes, nextExpiries, touched

  State fields
    incarnation, generation   those of the set
    count                     members after the last change
    updatedAt                 time of the last change
    sequence, mark, logStart, logBytes   see change-log.lua
    next                      the generation that a replace is building; absent otherwise
    shared                    customers that are in both generations, while there is a next one
    frozen                    a move to other shards is about to switch: no changes are accepted

  read(keys) -> shard: the keys by name, with incarnation, generation, next (text, or false), shared (number), frozen
  refusal(shard, incarnation, generation) -> nil, 'gone', 'stale' or 'frozen': check it before the first write
  isExpired(attributes, now) -> whether a member with these attributes (text, or false) has expired
  add(shard, customer, tail, expiresAt, now) -> wasMember, addedAt (text)
    tail is the text after ADDED_AT in the attributes, expiresAt text in ms, '0' for never
  remove(shard, customer) -> whether the set contained the customer
    both also change what a replace is building, where they win over its file
  drop(shard, customer) -> likewise, in the current generation only
  commit(shard, entry, now, mark, maxBytes, channel, listId) -> sequence, count
    stores the counters and the entry
  noteForOlder(keys, now, sequence)
    for an entry that was appended without commit
]]
-- Long enough for a process of version 0.1.0 to walk over the members of a large shard.
local MOST_FOR_OLDER, FOR_OLDER_MS = 1000, 600000
local NAMES = { 'members', 'attributes', 'state', 'log', 'expiries', 'unindexed',
  'next', 'nextAttributes', 'nextExpiries', 'touched' }

local function read(keys)
  local shard = { keys = {} }
  for i = 1, #NAMES do
    shard.keys[NAMES[i]] = keys[i]
  end
  local state = redis.call('HMGET', shard.keys.state, 'incarnation', 'generation', 'next', 'shared', 'frozen')
  shard.incarnation = state[1]
  shard.generation = state[2]
  shard.next = state[3]
  shard.shared = tonumber(state[4] or 0)
  shard.frozen = state[5]
  return shard
end

local function refusal(shard, incarnation, generation)
  if shard.incarnation ~= incarnation then return 'gone' end
  if shard.generation ~= generation then return 'stale' end
  if shard.frozen then return 'frozen' end
  return nil
end

local function isExpired(attributes, now)
  local expiresAt = attributes and string.match(attributes, '^%d+,(%d+)')
  return expiresAt ~= nil and expiresAt ~= false and tonumber(expiresAt) <= now
end

local function put(members, attributes, expiries, customer, text, expiresAt)
  local isNew = redis.call('SADD', members, customer) == 1
  redis.call('HSET', attributes, customer, text)
  if expiresAt == '0' then
    redis.call('ZREM', expiries, customer)
  else
    redis.call('ZADD', expiries, expiresAt, customer)
  end
  return isNew
end

local function take(members, attributes, expiries, customer)
  local held = redis.call('SREM', members, customer) == 1
  redis.call('HDEL', attributes, customer)
  redis.call('ZREM', expiries, customer)
  return held
end

local function add(shard, customer, tail, expiresAt, now)
  local keys = shard.keys
  local held = redis.call('SISMEMBER', keys.members, customer) == 1
  local known = held and redis.call('HGET', keys.attributes, customer)
  local wasMember = held and not isExpired(known, now)
  local addedAt = wasMember and known and string.match(known, '^%d+') or string.format('%.0f', now)
  put(keys.members, keys.attributes, keys.expiries, customer, addedAt .. tail, expiresAt)
  if shard.next then
    local isNew = put(keys.next, keys.nextAttributes, keys.nextExpiries, customer, addedAt .. tail, expiresAt)
    redis.call('SADD', keys.touched, customer)
    if isNew or not held then shard.shared = shard.shared + 1 end
  end
  return wasMember, addedAt
end

local function drop(shard, customer)
  local keys = shard.keys
  local held = take(keys.members, keys.attributes, keys.expiries, customer)
  if held and shard.next and redis.call('SISMEMBER', keys.next, customer) == 1 then
    shard.shared = shard.shared - 1
  end
  return held
end

local function remove(shard, customer)
  local keys = shard.keys
  local held = drop(shard, customer)
  if shard.next then
    take(keys.next, keys.nextAttributes, keys.nextExpiries, customer)
    redis.call('SADD', keys.touched, customer)
  end
  return held
end

-- A process of version 0.1.0 has an index of lists by customer. From this set its upkeep learns what it misses there, ten
-- seconds later; nobody else reads it.
local function noteForOlder(keys, now, sequence)
  local key = keys.unindexed
  redis.call('ZADD', key, string.format('%.0f', now), string.format('%.0f', sequence))
  redis.call('ZREMRANGEBYRANK', key, 0, -MOST_FOR_OLDER - 1)
  redis.call('PEXPIRE', key, FOR_OLDER_MS)
end

local function commit(shard, entry, now, mark, maxBytes, channel, listId)
  local keys = shard.keys
  local count = redis.call('SCARD', keys.members)
  local sequence = change_log.append(keys.state, keys.log, entry, mark, maxBytes, channel, listId)
  -- Written after the entry: a matching count means that the log has every change.
  redis.call('HSET', keys.state, 'count', count, 'updatedAt', string.format('%.0f', now))
  if shard.next then redis.call('HSET', keys.state, 'shared', string.format('%.0f', shard.shared)) end
  noteForOlder(keys, now, sequence)
  return sequence, count
end

return { read = read, refusal = refusal, isExpired = isExpired, add = add, remove = remove, drop = drop,
  commit = commit, noteForOlder = noteForOlder }
