--[[
  Makes an owner the only one who may move a list to another number of shards, until the lease ends by the clock of the
  server; or renews that, with how far the move is.

  Input
    keys  meta
    args  1 incarnation, 2 owner, 3 shards to move to, 4 lease in ms, 5 phase, 6 members copied, 7 members in all,
          8 `claim`, or `renew`, 9 generation that the caller knows the list by

  Output
    { 'gone' }       there is no such list
    { 'lost' }       a renewal came too late
    { 'moving' }     somebody else is at it
    { 'dead' }       somebody else was at it: what is left must be removed first
    { 'dropping' }   the shards of an earlier move must be dropped first
    { 'replacing' }  a replace is running
    { 'same' }       it has so many shards
    { 'changed' }    the list is not what the caller knows
    { 'claimed', generation that the moved list will have }
]]
local function nowMs()
  local time = redis.call('TIME')
  return tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
end

local function refusal(found, args, moving)
  if moving and moving.owner == args[2] then return nil end
  if args[8] == 'renew' then return 'lost' end
  if moving then return moving.leaseUntil > nowMs() and 'moving' or 'dead' end
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
    owner = args[2], shards = tonumber(args[3]), generation = generation, leaseUntil = nowMs() + tonumber(args[4]),
    phase = args[5], copied = tonumber(args[6]), total = tonumber(args[7]),
  }))
  return { 'claimed', generation }
end
