--[[
  The part of `idempotency-claim` for an item whose key or state exists.

  Input   main key, state, owner and hash, terms
  Output  the reply for the item: 1, 0 or 3, and three more values

  Runs after `idempotency-record`.
]]
local record = idempotency_record

local function hold(key, who, terms, ends, created, attempt)
  local line = record.claim_line(terms.now, terms.lease_until, ends, created, attempt)
  local unit, at = record.ttl_of(ends, terms.now)
  redis.call('SET', key, line .. who, unit, at)
  return 1, attempt, ends, terms.lease_until
end

return function(main, key, who, terms)
  local now = terms.now
  local state, expired = record.read(key, now)
  local status = string.byte(state or expired or '')
  if status ~= record.COMPLETED then
    local response, ends = record.foreign(main, now)
    if response then return 3, now, ends, response end
  end
  if state == nil then
    redis.call('DEL', main, key)
    return hold(key, who, terms, terms.ends, now, 1)
  end
  if status == record.COMPLETED then return 0, now, state, record.response(main, state) end

  local lease_until, ends, created, attempt, owner, hash = record.parts(state)
  local is_working = status == record.IN_PROGRESS
  if is_working and owner .. ' ' .. hash == who then return 1, attempt, ends, lease_until end
  -- A mark after the hash: the claim is not taken over, now or later.
  local asked, mark = string.match(who, ' ([^!]*)(!?)$')
  local known, kept = string.match(hash, '^([^!]*)(!?)$')
  local takes_over = terms.takes_over and kept == ''
  if asked ~= known or (is_working and not (takes_over and now >= lease_until)) then return 0, now, state, false end
  if mark == '' then who = who .. kept end
  return hold(key, who, terms, math.max(ends, terms.lease_until), created, attempt + 1)
end
