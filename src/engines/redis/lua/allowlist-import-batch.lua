--[[
  How much of a batch a shard has stored, so that a part that is sent again is not counted again. It is text in the
  field `IMPORT_ID#batch` of the writers: NUMBER KEY APPLIED ADDED. The field `IMPORT_ID` names the owner, who may
  write.

  begin(writersKey, importId, owner, number, key, start) -> added so far, if customers from `start` on are next;
    else nil and the reply: { 'applied', applied, added }, or { 'lost' } for another
    owner and for a batch that is not the latest one
  note(writersKey, importId, number, key, applied, added)
  store(members, attributes, expiries, customer, text)  text false: no attributes are known
  storeAll(members, attributes, args, first, count, text)  the customers in args, who are all new and do not expire
  given(args, first, count) -> by position, the attributes of rows: { ifThere, ifNew }; in args they follow the
    customers
  anybody(flags) -> whether one of them is 1
]]
local function begin(writersKey, importId, owner, number, key, start)
  local writer = redis.call('HMGET', writersKey, importId, importId .. '#batch')
  if writer[1] ~= owner then return nil, { 'lost' } end
  local noted = writer[2] or '0 - 0 0'
  local notedNumber, notedKey, applied, added = string.match(noted, '^(%S+) (%S+) (%S+) (%S+)$')
  notedNumber, applied, added = tonumber(notedNumber), tonumber(applied), tonumber(added)
  if notedNumber > number then return nil, { 'lost' } end
  local same = notedNumber == number or (notedNumber == 0 and notedKey == key)
  if not same then applied, added = 0, 0 end
  if applied ~= start then return nil, { 'applied', applied, added } end
  return added
end

local function note(writersKey, importId, number, key, applied, added)
  redis.call('HSET', writersKey, importId .. '#batch', string.format('%d %s %d %d', number, key, applied, added))
end

local function store(members, attributes, expiries, customer, text)
  redis.call('SADD', members, customer)
  if text then redis.call('HSET', attributes, customer, text) else redis.call('HDEL', attributes, customer) end
  local expiresAt = text and string.match(text, '^%d+,(%d+)')
  if expiresAt then redis.call('ZADD', expiries, expiresAt, customer) else redis.call('ZREM', expiries, customer) end
end

local function storeAll(members, attributes, args, first, count, text)
  redis.call('SADD', members, unpack(args, first, first + count - 1))
  local fields = {}
  for i = 1, count do
    fields[2 * i - 1] = args[first + i - 1]
    fields[2 * i] = text
  end
  redis.call('HSET', attributes, unpack(fields))
end

local function given(args, first, count)
  local rows = {}
  for i = first + count, #args, 3 do
    rows[tonumber(args[i])] = { ifThere = args[i + 1], ifNew = args[i + 2] }
  end
  return rows
end

local function anybody(flags)
  for i = 1, #flags do
    if flags[i] == 1 then return true end
  end
  return false
end

return { begin = begin, note = note, store = store, storeAll = storeAll, given = given, anybody = anybody }
