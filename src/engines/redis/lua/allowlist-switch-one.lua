--[[
  Switches a list of one shard to the generation that a replace has built, and completes the import, in one step.

  Input
    keys  those of the shard (shard.lua), old, meta, imports
    args  1 incarnation, 2 import id, 3 owner, 4 generation, 5 now in ms, 6 checkpoint, 7 members and 8 shared ones that
          the checkpoint was made with, 9 the log entry for followers ('' for none), 10 last sequence number of the log
          when the entry was made, 11 mark, 12 maximum bytes of the log, 13 channel, 14 list id

  Output
    { 'switched' | 'lost' | 'list-not-found' | 'frozen' }
    { 'changed', members, shared }  the counts of the checkpoint are outdated
    { 'late' }                      too much has changed since the differences were read
]]
local imports = allowlist_import_claim
local MOST_ENTRIES = 200
local RESET = '\255'

-- Changes made since the differences were read are logged again after them, because the last entry wins.
local function retold(it, entry, readAt)
  local sequence = tonumber(redis.call('HGET', it.keys.state, 'sequence') or 0)
  if entry == RESET or sequence == readAt then return entry end
  if sequence - readAt > MOST_ENTRIES then return nil end
  local first = string.format('%.0f', readAt + 1)
  local later = redis.call('XRANGE', it.keys.log, first, '+')
  if #later ~= sequence - readAt then return nil end
  local parts = { entry }
  for i = 1, #later do
    parts[i + 1] = later[i][2][2]
    if string.byte(parts[i + 1]) == 255 then return RESET end
  end
  return table.concat(parts)
end

return function(keys, args)
  local it, old, meta = shard.read(keys), keys[11], keys[12]
  local claim, refusal = imports.owned(meta, keys[13], args[1], args[2], args[3])
  if claim == nil then return { refusal } end
  if it.frozen then return { 'frozen' } end
  if it.next ~= args[4] then
    -- The call was sent again because no reply came.
    return { (claim.state == 'completed' and it.generation == args[4]) and 'switched' or 'lost' }
  end
  local replacing = redis.call('HGET', meta, 'replacing')
  if not replacing or string.format('%.0f', cjson.decode(replacing).generation) ~= args[4] then return { 'lost' } end
  local members = redis.call('SCARD', it.keys.members)
  if members ~= tonumber(args[7]) or it.shared ~= tonumber(args[8]) then return { 'changed', members, it.shared } end
  local entry = retold(it, args[9], tonumber(args[10]))
  if entry == nil then return { 'late' } end

  claim.state = 'completed'
  claim.updatedAt = args[5]
  imports.write(keys[13], args[2], claim)
  redis.call('HSET', keys[13], args[2], args[6])
  redis.call('HDEL', meta, 'replacing')
  redis.call('HSET', meta, 'generation', args[4])
  allowlist_activate_shard.switch(it, old, args[4], entry, tonumber(args[5]), tonumber(args[11]), tonumber(args[12]),
    args[13], args[14])
  redis.call('PUBLISH', args[13], '!' .. args[14])
  return { 'switched' }
end
