--[[
  Claims what is absent, expired, FAILED, or IN_PROGRESS with its lease passed; else answers the record.

  Input
    keys  main key and state
    args  owner, hash of the request, lease in ms, life in ms, 1 when a passed lease is taken over,
          the caller's time, or nothing: this server's

  Output
    1, attempt, expiresAt, leaseUntil; or
    0, the time, status, requestHash, attempt, createdAt, updatedAt, expiresAt, leaseUntil, error, omittedBytes,
    encoding, response

  Runs after `clock` and `idempotency-record`.
]]
local record = idempotency_record
local text = record.text

local function may_take(state, hash, takes_over, now)
  if state[2] ~= hash then return false end
  if state[1] == 'FAILED' then return true end
  return state[1] == 'IN_PROGRESS' and takes_over and now >= tonumber(state[5])
end

local function hold(key, owner, hash, attempt, lease_until, created, ends, now)
  -- Numbers as text, which the server takes its time to make of them, and first what is looked for most.
  redis.call('HSET', key, 'owner', owner, 'status', 'IN_PROGRESS', 'expiresAt', text(ends), 'updatedAt', text(now),
    'attempt', text(attempt), 'leaseUntil', text(lease_until), 'createdAt', text(created), 'requestHash', hash)
  record.expire(key, ends, now)
  return { 1, attempt, ends, lease_until }
end

return function(keys, args)
  local main, key, owner, hash = keys[1], keys[2], args[1], args[2]
  local now = record.now(args[6])
  local lease_until = now + args[3]
  local ends = math.max(now + args[4], lease_until)
  -- Mostly there is nothing, which is quickly seen.
  if redis.call('EXISTS', main, key) == 0 then return hold(key, owner, hash, 1, lease_until, now, ends, now) end

  local state, expired = record.read(key, now)
  if expired ~= 'COMPLETED' and (state == nil or state[1] ~= 'COMPLETED') then
    local foreign = record.foreign(main, now)
    if foreign then return foreign end
  end
  if state == nil then
    redis.call('DEL', main, key)
    return hold(key, owner, hash, 1, lease_until, now, ends, now)
  end
  if state[1] == 'IN_PROGRESS' and state[4] == owner and state[2] == hash then
    return { 1, tonumber(state[3]), tonumber(state[8]), tonumber(state[5]) }
  end
  if not may_take(state, hash, args[5] == '1', now) then return record.view(main, state, now) end
  redis.call('HDEL', key, 'error')
  ends = math.max(tonumber(state[8]), lease_until)
  return hold(key, owner, hash, state[3] + 1, lease_until, tonumber(state[6]), ends, now)
end
