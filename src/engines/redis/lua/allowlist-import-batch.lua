--[[
  How much of a batch a shard has stored, so that a part that is sent again is not counted again: text in the field
  `IMPORT_ID#batch` of the writers: NUMBER KEY APPLIED ADDED. The field `IMPORT_ID` says who may write.

  begin(writersKey, importId, owner, number, key, start) -> added so far when customers from `start` on are next,
    else nil and the answer: { 'applied', applied, added }, or { 'lost' } for another owner and for a batch that was
    followed by another
  note(writersKey, importId, number, key, applied, added)
  store(members, attributes, expiries, customer, text)  text false: nothing is known of the member
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

return { begin = begin, note = note, store = store }
