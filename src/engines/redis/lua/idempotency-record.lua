--[[
  The record transitions, equal to src/guards/idempotency/transitions.ts; the conformance suites compare them.

  The main key holds only the response, as other programs store it. A response without a completed state was written by
  another program. The state beside it is one line of text (src/engines/redis/idempotency/state.ts reads it too):
    status  updatedAt  leaseUntil  expiresAt  createdAt  attempt  owner  requestHash  rest
  All fields before the owner have a fixed position, so that a step of the owner can change its field alone.
  leaseUntil stays when a claim ends, and has no meaning then.

  Runs after `clock`.
]]
local OWNER_AT = 88
local LINE = '^(%S+) +(%d+) +(%d+) +(%d+) +(%d+) +(%d+) (%S+) (%S+)'
-- First letters of the states.
local COMPLETED, FAILED, IN_PROGRESS = 67, 70, 73
-- The last time with a four-digit year: records of other programs may never expire.
local NEVER = 253402300799999
local call, format, byte, sub, find = redis.call, string.format, string.byte, string.sub, string.find
local server_now = nil
local margin = nil

-- Calls of one batch mostly write the same times, and formatting them costs more than a table lookup.
local texts, places = {}, {}
local function text(number)
  local known = texts[number]
  if known == nil then
    known = format('%.0f', number)
    texts[number] = known
  end
  return known
end

-- A time with fixed width, and a space.
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

-- Keys expire with their record. With the caller's time, which may stand still while the server's goes on, later.
local function ttl_of(ends, now)
  if margin == nil then return 'PXAT', text(ends) end
  return 'PX', text(ends - now + margin)
end

return {
  COMPLETED = COMPLETED,
  FAILED = FAILED,
  IN_PROGRESS = IN_PROGRESS,
  ttl_of = ttl_of,

  -- The caller's time if given, otherwise the server's, the same for the whole batch.
  now = function(given)
    if given ~= '' then
      margin = 3600000
      return tonumber(given)
    end
    if server_now == nil then server_now = clock.nowMs() end
    return server_now
  end,

  -- The beginning of a claim's line, up to its owner.
  claim_line = function(now, lease_until, ends, created, attempt)
    return 'IN_PROGRESS ' .. placed(now) .. placed(lease_until) .. placed(ends) .. placed(created)
      .. format('%10.0f ', attempt)
  end,

  -- The state, or nil if there is none; then as second value an expired state that still exists.
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

  -- The text after the hash of a claim that has ended.
  rest = function(state)
    local _, last = find(state, LINE)
    return last and sub(state, last + 2) or ''
  end,

  -- First letter of the state, expiresAt, and the line; nil if this owner does not hold it.
  owned = function(key, owner, now)
    local state = call('GET', key)
    if not state or find(state, owner, OWNER_AT, true) ~= OWNER_AT then return nil end
    if byte(state, OWNER_AT + #owner) ~= 32 then return nil end
    local ends = ends_of(state)
    if now < ends then return byte(state), ends, state end
  end,

  -- Ends the claim. The details of its end come last.
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

  -- The response that another program recorded and its expiry; nil if there is none.
  foreign = function(key, now)
    local response = call('GET', key)
    if not response then return nil end
    local ttl = call('PTTL', key)
    return response, ttl < 0 and NEVER or now + ttl
  end,

  -- The response of a record in this state; false if there is none.
  response = function(key, state)
    return byte(state) == COMPLETED and call('GET', key)
  end,

  failure = function(failure)
    local message = type(failure) == 'table' and failure.err or failure
    -- Error replies of the server begin with a code (OOM, READONLY), which is kept. Errors of Lua have none.
    if not find(message, '^%u+ ') then message = 'ERR ' .. message end
    return message
  end,
}
