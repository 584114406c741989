--[[
  Makes an owner the only one who may move a list to another number of shards, until its lease ends by the clock of the
  server; or renews the lease and stores the progress. Needs clock.

  Input
    keys  meta
    args  1 incarnation, 2 owner, 3 shards to move to, 4 lease in ms, 5 phase, 6 members copied, 7 members in all, 8
          `claim` or `renew`, 9 generation of the list that the caller has read

  Output
    { 'gone' }       there is no such list
    { 'lost' }       the lease had already expired
    { 'moving' }     another owner moves the list
    { 'dead' }       another owner died: its leftovers must be removed first
    { 'dropping' }   the old shards of an earlier move must be deleted first
    { 'replacing' }  a replace is running
    { 'same' }       it already has this number of shards
    { 'changed' }    the list has changed since the caller read it
    { 'claimed', generation that the moved list will have }
]]
local function refusal(found, args, moving)
  if moving and moving.owner == args[2] then return nil end
  if args[8] == 'renew' then return 'lost' end
  if moving then return moving.leaseUntil > clock.nowMs() and 'moving' or 'dead' end
  if found[7] then return 'dropping' end
  if found[3] then return 'replacing' end
  if found[5] == args[3] then return 'same' end
  if found[8] ~= args[9] then return 'changed' end
  return nil
end

return function(keys, args)
  local found = redis.call('HMGET', keys[1], 'incarnation', 'deleted', 'replacing', 'moving', 'shards',
    'lastGeneration', 'dropping', 'generation')
  if found[1] ~= args[1] or found[2] then return { 'gone' } end
  local moving = found[4] and cjson.decode(found[4])
  local refused = refusal(found, args, moving)
  if refused then return { refused } end
  local generation = moving and moving.generation
  if not moving then
    generation = math.max(tonumber(found[6] or 0), tonumber(found[8] or 0)) + 1
    redis.call('HSET', keys[1], 'lastGeneration', string.format('%.0f', generation))
  end
  redis.call('HSET', keys[1], 'moving', cjson.encode({
    owner = args[2], shards = tonumber(args[3]), generation = generation, leaseUntil = clock.nowMs() + tonumber(args[4]),
    phase = args[5], copied = tonumber(args[6]), total = tonumber(args[7]),
  }))
  return { 'claimed', generation }
end
