--[[
  Makes a process the updater of a hot set, and returns what the set contains. Needs clock.

  Input
    keys  set, control, meta
    args  1 owner, 2 step: the next call of the updater must name it, 3 length of the lease in ms, 4 time to live in ms
          of a set that is not maintained

  Output
    { 'taken' }, { 'foreign' } if the set belongs to a list stored in this database, or
    { 'yours', now in ms, fill, state, position }, the last three only if the set is complete
]]
return function(keys, args)
  if redis.call('EXISTS', keys[3]) == 1 then return { 'foreign' } end
  local now = clock.nowMs()
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
