--[[
  For each item of a batch: claims a record that is absent, expired, FAILED, or IN_PROGRESS with an expired lease;
  otherwise returns the record. It has its own loop: what items have in common is read once, and the reply is flat.

  Input
    KEYS  for each item: main key and state
    ARGV  for each run of items with the same terms: their number; the terms: lease in ms, life in ms, 1 if an expired
          lease is taken over or else 0, and the caller's time or '' for the server's; then for each item owner and hash
          of the request

  Output
    for each item
      1, attempt, expiresAt, leaseUntil: claimed
      2: claimed, with the same numbers as the previous claimed item
      0, the time, the state, the response: found
      3, the time, expiresAt, the response: found, written by another program
      or -1 and its error message

  Runs after `clock` and `idempotency-record`; `idempotency-claim-found` is loaded when it is needed. For each item,
  everything is checked before the first write.
]]
local record = idempotency_record
local call = redis.call
local answer, last = {}, 0
local claim_found = nil
local told_ends, told_lease = nil, nil

local function tell(a, b, c, d)
  answer[last + 1], answer[last + 2], answer[last + 3], answer[last + 4] = a, b, c, d
  last = last + 4
end

local function tell_claimed(attempt, ends, lease_until)
  if attempt == 1 and ends == told_ends and lease_until == told_lease then
    last = last + 1
    answer[last] = 2
    return
  end
  tell(1, attempt, ends, lease_until)
  told_ends, told_lease = nil, nil
  if attempt == 1 then told_ends, told_lease = ends, lease_until end
end

local item, argument = 0, 1

local function run(run_ends, terms)
  local now, lease_until, ends = terms.now, terms.lease_until, terms.ends
  local unit, at = record.ttl_of(ends, now)
  while item < run_ends do
    local main, key, who = KEYS[item * 2 + 1], KEYS[item * 2 + 2], ARGV[argument]
    -- Mostly there is nothing, which this finds quickly.
    if call('EXISTS', main, key) == 0 then
      call('SET', key, terms.line .. who, unit, at)
      tell_claimed(1, ends, lease_until)
    else
      if claim_found == nil then claim_found = idempotency_claim_found() end
      local kind, a, b, c = claim_found(main, key, who, terms)
      if kind == 1 then
        tell_claimed(a, b, c)
      else
        tell(kind, a, b, c)
      end
    end
    item, argument = item + 1, argument + 1
  end
end

local function terms_of(text)
  local lease, life, takes_over, time = string.match(text, '^(%d+) (%d+) (%d) (.*)$')
  local now = record.now(time)
  local lease_until = now + lease
  local ends = math.max(now + life, lease_until)
  local line = record.claim_line(now, lease_until, ends, now, 1)
  return { now = now, lease_until = lease_until, ends = ends, takes_over = takes_over == '1', line = line }
end

while argument <= #ARGV do
  local run_ends, terms = item + tonumber(ARGV[argument]), terms_of(ARGV[argument + 1])
  argument = argument + 2
  while item < run_ends do
    local ran, failure = pcall(run, run_ends, terms)
    if not ran then
      -- The failure of one item does not affect those after it.
      answer[last + 1], answer[last + 2] = -1, record.failure(failure)
      last = last + 2
      item, argument = item + 1, argument + 1
    end
  end
end
return answer
