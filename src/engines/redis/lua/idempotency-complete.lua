--[[
  For each item of a batch: records the response of a request, and ends the claim. It has its own loop, like
  `idempotency-claim`.

  Input
    KEYS  for each item: main key and state
    ARGV  for each run of items with the same time: their number, the caller's time or ''; then for each item owner, the
          response, and its kind: '' for text, `gzip`, or `none` without a response, followed by its size if it was
          omitted

  Output
    for each item 1, 0 if the owner no longer holds it, 2 if it was completed with another response; or -1 and its
    error message

  Runs after `clock` and `idempotency-record`.
]]
local record = idempotency_record
local call, byte = redis.call, string.byte
local N = byte('n')
local answer, last = {}, 0

-- False if another program has recorded a response, which stays.
local function put(main, response, kind, ends, now)
  if byte(kind) == N then return call('EXISTS', main) == 0 end
  local unit, at = record.ttl_of(ends, now)
  return call('SET', main, response, 'NX', unit, at)
end

-- If the recorded response no longer exists, it counts as the same.
local function is_same(main, state, response, kind)
  if record.rest(state) ~= kind then return false end
  if byte(kind) == N then return true end
  local kept = call('GET', main)
  return not kept or kept == response
end

local function complete(main, key, owner, response, kind, now)
  local status, ends, state = record.owned(key, owner, now)
  if status == record.COMPLETED then return is_same(main, state, response, kind) and 1 or 2 end
  if status ~= record.IN_PROGRESS or not put(main, response, kind, ends, now) then return 0 end
  record.finish(key, 'COMPLETED   ', now, kind ~= '' and kind)
  return 1
end

local item, argument = 0, 1

local function run(run_ends, now)
  while item < run_ends do
    local main, key = KEYS[item * 2 + 1], KEYS[item * 2 + 2]
    answer[last + 1] = complete(main, key, ARGV[argument], ARGV[argument + 1], ARGV[argument + 2], now)
    last, item, argument = last + 1, item + 1, argument + 3
  end
end

while argument <= #ARGV do
  local run_ends, now = item + tonumber(ARGV[argument]), record.now(ARGV[argument + 1])
  argument = argument + 2
  while item < run_ends do
    local ran, failure = pcall(run, run_ends, now)
    if not ran then
      -- The failure of one item does not affect those after it.
      answer[last + 1], answer[last + 2] = -1, record.failure(failure)
      last, item, argument = last + 2, item + 1, argument + 3
    end
  end
end
return answer
