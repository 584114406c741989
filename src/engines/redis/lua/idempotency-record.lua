--[[
  What is known of a record: twins of src/guards/idempotency/transitions.ts, held equal by the conformance suites.

  The main key holds the response alone, as other programs keep it; one that stands there without a completed state is
  theirs. The state beside it is one line of text (see src/engines/redis/idempotency/state.ts, which reads it too):
    status  updatedAt  leaseUntil  expiresAt  createdAt  attempt  owner  requestHash  rest
  All before the owner stands at a fixed place, so that a step of the owner finds and writes its part without the others.
  leaseUntil stays when a claim ends, and then means nothing.

  Runs after `clock`.
]]
local OWNER_AT = 88
local LINE = '^(%S+) +(%d+) +(%d+) +(%d+) +(%d+) +(%d+) (%S+) (%S+)'
-- First letters of the states.
local COMPLETED, FAILED, IN_PROGRESS = 67, 70, 73
-- The last moment that has four digits for its year: what another program wrote may never expire.
local NEVER = 253402300799999
local call, format, byte, sub, find = redis.call, string.format, string.byte, string.sub, string.find
local server_now = nil
local margin = nil

-- Calls of one batch mostly write the same moments, and to spell them costs more than to look them up.
local texts, places = {}, {}
local function text(number)
  local known = texts[number]
  if known == nil then
    known = format('%.0f', number)
    texts[number] = known
  end
  return known
end

-- A moment in its place, and the space behind it.
local function placed(number)
  local known = places[number]
  if known == nil then
    known = format('%15.0f ', number)
    places[number] = known
  end
  return known
end

local function broken() error({ err = 'WRONGTYPE the state of a record is not one' }, 0) end

local function ends_of(state)
  return tonumber(sub(state, 45, 59)) or broken()
end

-- Keys go when their record does. By a caller's time, which may stand still while that of the server goes on, later.
local function ttl_of(ends, now)
  if margin == nil then return 'PXAT', text(ends) end
  return 'PX', text(ends - now + margin)
end

return {
  COMPLETED = COMPLETED,
  FAILED = FAILED,
  IN_PROGRESS = IN_PROGRESS,
  ttl_of = ttl_of,

  -- The caller's time where it was given, else this server's, the same for the whole batch.
  now = function(given)
    if given ~= '' then
      margin = 3600000
      return tonumber(given)
    end
    if server_now == nil then server_now = clock.nowMs() end
    return server_now
  end,

  -- The beginning of the line of a claim, up to its owner.
  claim_line = function(now, lease_until, ends, created, attempt)
    return 'IN_PROGRESS ' .. placed(now) .. placed(lease_until) .. placed(ends) .. placed(created)
      .. format('%10.0f ', attempt)
  end,

  -- The state, or nil when there is none; and then that of one that has expired and is still there.
  read = function(key, now)
    local state = call('GET', key)
    if not state or now < ends_of(state) then return state or nil end
    return nil, state
  end,

  -- leaseUntil, expiresAt, createdAt, attempt, owner, requestHash
  parts = function(state)
    local _, _, _, _, lease_until, ends, created, attempt, owner, hash = find(state, LINE)
    if hash == nil then broken() end
    return tonumber(lease_until), tonumber(ends), tonumber(created), tonumber(attempt), owner, hash
  end,

  -- What stands behind the hash of a claim that has ended.
  rest = function(state)
    local _, last = find(state, LINE)
    return last and sub(state, last + 2) or ''
  end,

  -- First letter of the state, expiresAt, and the line; nil when it is not this owner's.
  owned = function(key, owner, now)
    local state = call('GET', key)
    if not state or find(state, owner, OWNER_AT, true) ~= OWNER_AT then return nil end
    if byte(state, OWNER_AT + #owner) ~= 32 then return nil end
    local ends = ends_of(state)
    if now < ends then return byte(state), ends, state end
  end,

  -- The claim has ended. What is to be known of its end stands last.
  finish = function(key, status, now, rest)
    call('SETRANGE', key, '0', status .. placed(now))
    if rest then call('APPEND', key, ' ' .. rest) end
  end,

  extend = function(key, now, lease_until, ends)
    local moments = placed(now) .. placed(lease_until)
    if lease_until <= ends then return call('SETRANGE', key, '12', moments) end
    call('SETRANGE', key, '12', moments .. placed(lease_until))
    local unit, at = ttl_of(lease_until, now)
    call(unit == 'PX' and 'PEXPIRE' or 'PEXPIREAT', key, at)
  end,

  -- What another program recorded and when that ends; nil when it did not.
  foreign = function(key, now)
    local response = call('GET', key)
    if not response then return nil end
    local ttl = call('PTTL', key)
    return response, ttl < 0 and NEVER or now + ttl
  end,

  -- The response of a record in this state; false when there is none.
  response = function(key, state)
    return byte(state) == COMPLETED and call('GET', key)
  end,

  failure = function(failure)
    local message = type(failure) == 'table' and failure.err or failure
    -- The server's own refusals begin with a code (OOM, READONLY), which is worth keeping; errors of Lua do not.
    if not find(message, '^%u+ ') then message = 'ERR ' .. message end
    return message
  end,
}
