--[[
  Puts some hundreds of customers of the file of a replace into the generation that it builds. Customers changed by
  single writes since it began are skipped.

  Input
    keys  those of the shard (shard.lua), writers
    args  1 incarnation, 2 generation that the replace builds, 3 import id, 4 owner, 5 customers of the file that come
          before in this shard, 6 customers of this part, 7 now in ms, 8 attributes tail of new customers whose row has
          no attributes, from 9 on the ids, then for each row with attributes: its position (from 1), the tail if the
          customer is a member already, the tail if not

  Output
    { 'gone' | 'frozen' | 'lost' }
    { 'applied', applied, added }  another part is next
    { 'stored', applied, added, positions of those that differ or -1: all }
]]
local batch = allowlist_import_batch
local FIRST = 9

local function putEach(it, args, count, present, touched)
  local keys, now, rows = it.keys, tonumber(args[7]), batch.given(args, FIRST, count)
  local texts = redis.call('HMGET', keys.attributes, unpack(args, FIRST, FIRST + count - 1))
  local different, added = {}, 0
  for i = 1, count do
    if touched[i] == 0 then
      local customer, isThere, text, row = args[FIRST + i - 1], present[i] == 1, texts[i], rows[i]
      local isMember = isThere and not shard.isExpired(text, now)
      if not isMember then
        text = args[7] .. (row and row.ifNew or args[8])
        added = added + 1
      elseif row then
        text = (text and string.match(text, '^%d+') or '0') .. row.ifThere
      end
      batch.store(keys.next, keys.nextAttributes, keys.nextExpiries, customer, text)
      if isThere then it.shared = it.shared + 1 end
      if text ~= texts[i] then different[#different + 1] = i end
    end
  end
  return different, added
end

return function(keys, args)
  local it, writers = shard.read(keys), keys[11]
  local refusal = shard.refusal(it, args[1], it.generation)
  if refusal then return { refusal } end
  if it.next ~= args[2] then return { 'lost' } end
  local start, count = tonumber(args[5]), tonumber(args[6])
  local before, answer = batch.begin(writers, args[3], args[4], 1, 'replace', start)
  if before == nil then return answer end

  local present = redis.call('SMISMEMBER', it.keys.members, unpack(args, FIRST, FIRST + count - 1))
  local touched = redis.call('SMISMEMBER', it.keys.touched, unpack(args, FIRST, FIRST + count - 1))
  local different, added
  if #args < FIRST + count and not batch.anybody(present) and not batch.anybody(touched) then
    batch.storeAll(it.keys.next, it.keys.nextAttributes, args, FIRST, count, args[7] .. args[8])
    different, added = -1, count
  else
    different, added = putEach(it, args, count, present, touched)
    redis.call('HSET', it.keys.state, 'shared', string.format('%.0f', it.shared))
  end
  batch.note(writers, args[3], 1, 'replace', start + count, before + added)
  return { 'stored', start + count, before + added, different }
end
