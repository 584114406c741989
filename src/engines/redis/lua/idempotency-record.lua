--[[
  What is known of a record: twins of src/idempotency/transitions.ts, held equal by the conformance suites.

  The state is a hash beside the main key. The main key holds the response alone, as other programs keep it; one that
  stands there without a completed state is theirs.

  A state here is what HMGET answers for FIELDS, so all of it is text, and false where there is nothing.
    1 status  2 requestHash  3 attempt  4 owner  5 leaseUntil  6 createdAt  7 updatedAt  8 expiresAt
    9 error  10 omittedBytes  11 encoding: `gzip`, `none` when there is no response, absent for text
  leaseUntil stays when a claim ends, and then means nothing.

  Runs after `clock`.
]]
local COMPLETED = 'COMPLETED'
-- The last moment that has four digits for its year: what another program wrote may never expire.
local NEVER = 253402300799999
local format = string.format
local server_now = nil
local margin = nil

-- Calls of one batch mostly write the same moments, and to spell them costs more than to look them up.
local texts = {}
local function text(number)
  local known = texts[number]
  if known == nil then
    known = format('%.0f', number)
    texts[number] = known
  end
  return known
end

-- Keys go when their record does. By a caller's time, which may stand still while that of the server goes on, later.
local function ttl_of(ends, now)
  if margin == nil then return 'PXAT', text(ends) end
  return 'PX', text(ends - now + margin)
end

return {
  text = text,

  -- The caller's time where it was given, else this server's, the same for the whole batch.
  now = function(given)
    if given ~= '' then
      margin = 3600000
      return tonumber(given)
    end
    if server_now == nil then server_now = clock.nowMs() end
    return server_now
  end,

  -- The state, or nil when there is none; and then the status of one that has expired and is still there, or false.
  read = function(key, now)
    local state = redis.call('HMGET', key, 'status', 'requestHash', 'attempt', 'owner', 'leaseUntil', 'createdAt',
      'updatedAt', 'expiresAt', 'error', 'omittedBytes', 'encoding')
    if not state[1] then return nil, false end
    if now < tonumber(state[8]) then return state, false end
    return nil, state[1]
  end,

  -- Status, expiresAt and, as text, attempt; nil when it is not this owner's.
  owned = function(key, owner, now)
    local state = redis.call('HMGET', key, 'owner', 'status', 'expiresAt', 'attempt')
    if state[1] ~= owner or now >= tonumber(state[3]) then return nil end
    return state[2], tonumber(state[3]), state[4]
  end,

  -- What another program recorded, as an answer; nil when it did not.
  foreign = function(key, now)
    local response = redis.call('GET', key)
    if not response then return nil end
    local ttl = redis.call('PTTL', key)
    local ends = ttl < 0 and NEVER or now + ttl
    return { 0, now, COMPLETED, false, 1, now, now, ends, false, false, false, false, response }
  end,

  -- A record as an answer.
  view = function(key, state, now)
    local response = false
    if state[1] == COMPLETED and state[11] ~= 'none' then response = redis.call('GET', key) end
    return {
      0,
      now,
      state[1],
      state[2],
      tonumber(state[3]),
      tonumber(state[6]),
      tonumber(state[7]),
      tonumber(state[8]),
      state[1] == 'IN_PROGRESS' and tonumber(state[5]),
      state[9],
      state[10] and tonumber(state[10]),
      state[11],
      response,
    }
  end,

  -- False when another program has recorded a response: it stays.
  put_response = function(key, response, ends, now)
    local unit, at = ttl_of(ends, now)
    return redis.call('SET', key, response, 'NX', unit, at) and true
  end,

  expire = function(key, ends, now)
    local unit, at = ttl_of(ends, now)
    redis.call(unit == 'PX' and 'PEXPIRE' or 'PEXPIREAT', key, at)
  end,
}
