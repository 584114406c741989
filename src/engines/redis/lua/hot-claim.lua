--[[
  Makes somebody the keeper of a hot set, and tells what the set holds.

  Input
    keys  set, control, meta
    args  1 owner, 2 step: what the keeper's next call must name, 3 length of the lease in ms, 4 how long what nobody
          keeps is kept, in ms

  Output
    { 'taken' }, { 'foreign' } when the set belongs to a list that lives in this database, or
    { 'yours', now in ms, fill, state, position }, the last three only when the set is whole
]]
return function(keys, args)
  if redis.call('EXISTS', keys[3]) == 1 then return { 'foreign' } end
  local time = redis.call('TIME')
  local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
  local control = redis.call('HMGET', keys[2], 'owner', 'until', 'fill', 'state', 'position')
  if control[1] and control[1] ~= args[1] and tonumber(control[2]) > now then return { 'taken' } end
  local leaseEnd = string.format('%.0f', now + tonumber(args[3]))
  redis.call('HSET', keys[2], 'owner', args[1], 'until', leaseEnd, 'step', args[2])
  redis.call('PEXPIRE', keys[2], args[4])
  local answer = { 'yours', string.format('%.0f', now) }
  local fill = control[3]
  if fill and redis.call('SISMEMBER', keys[1], '##' .. fill) == 1 then
    redis.call('PEXPIRE', keys[1], args[4])
    answer[3], answer[4], answer[5] = fill, control[4], control[5]
  end
  return answer
end
