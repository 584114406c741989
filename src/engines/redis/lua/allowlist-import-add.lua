--[[
  Stores one part of a batch of an import in `add` mode: some hundreds of customers of one shard.

  Input
    keys  those of the shard (shard.lua), writers
    args  1 incarnation, 2 import id, 3 owner, 4 number of the batch, 5 key of the batch, 6 customers of the batch that
          come before in this shard, 7 customers of this part, 8 now in ms, 9 attributes tail of new customers whose row
          has no attributes, 10 mark, 11 maximum bytes of the log, 12 channel, 13 list id, 14 for each customer 02
          length-1 key, from 15 on the ids, then for each row with attributes: its position (from 1), the tail if the
          customer is a member already, the tail if not

  Output
    { 'gone' | 'frozen' | 'lost' }
    { 'applied', applied, added }  another part is next
    { 'stored', applied, added }
]]
local batch = allowlist_import_batch
local FIRST = 15

-- No customer is a member yet and no row has attributes: the case of nearly every import, and several times cheaper.
local function addAll(it, args, count, text)
  batch.storeAll(it.keys.members, it.keys.attributes, args, FIRST, count, text)
  return '\1' .. struct.pack('>I6I6', tonumber(args[8]), 0) .. string.sub(args[14], 2)
end

-- A running replace must also contain members that another import adds or names again.
local function storeInNext(it, customer, text, wasThere, changed)
  local keys = it.keys
  local inNext = redis.call('SISMEMBER', keys.next, customer) == 1
  if changed or not inNext then batch.store(keys.next, keys.nextAttributes, keys.nextExpiries, customer, text) end
  redis.call('SADD', keys.touched, customer)
  if not (wasThere and inNext) then it.shared = it.shared + 1 end
end

-- The new text of the attributes; nil: unchanged.
local function changedText(text, isMember, row, args)
  if not isMember then return args[8] .. (row and row.ifNew or args[9]) end
  if not row then return nil end
  local addedAt = text and string.match(text, '^%d+') or '0'
  if row.ifThere == string.sub(text or '', #addedAt + 1) then return nil end
  return addedAt .. row.ifThere
end

local function addEach(it, args, count, present)
  local keys, now, rows = it.keys, tonumber(args[8]), batch.given(args, FIRST, count)
  local texts = redis.call('HMGET', keys.attributes, unpack(args, FIRST, FIRST + count - 1))
  local items, added, at = {}, 0, 1
  for i = 1, count do
    local customer, isThere, length = args[FIRST + i - 1], present[i] == 1, string.byte(args[14], at + 1) + 1
    local isMember = isThere and not shard.isExpired(texts[i], now)
    local text = changedText(texts[i], isMember, rows[i], args)
    if text then
      batch.store(keys.members, keys.attributes, keys.expiries, customer, text)
      local addedAt, expiresAt = string.match(text, '^(%d+),?(%d*)')
      local key = string.sub(args[14], at + 2, at + 1 + length)
      items[#items + 1] = change_log.added(tonumber(addedAt), tonumber(expiresAt) or 0, key)
    end
    if not isMember then added = added + 1 end
    if it.next then storeInNext(it, customer, text or texts[i], isThere, text ~= nil) end
    at = at + 2 + length
  end
  return table.concat(items), added
end

return function(keys, args)
  local it, writers = shard.read(keys), keys[11]
  local refusal = shard.refusal(it, args[1], it.generation)
  if refusal then return { refusal } end
  local number, start, count = tonumber(args[4]), tonumber(args[6]), tonumber(args[7])
  local before, answer = batch.begin(writers, args[2], args[3], number, args[5], start)
  if before == nil then return answer end

  local present = redis.call('SMISMEMBER', it.keys.members, unpack(args, FIRST, FIRST + count - 1))
  local entry, added
  if #args < FIRST + count and not it.next and not batch.anybody(present) then
    entry, added = addAll(it, args, count, args[8] .. args[9]), count
  else
    entry, added = addEach(it, args, count, present)
  end
  if entry ~= '' then
    shard.commit(it, entry, tonumber(args[8]), tonumber(args[10]), tonumber(args[11]), args[12], args[13])
  elseif it.next then
    redis.call('HSET', it.keys.state, 'shared', string.format('%.0f', it.shared))
  end
  batch.note(writers, args[2], number, args[5], start + count, before + added)
  return { 'stored', start + count, before + added }
end
