--[[
  The usual call of `limit-take`: one enforcing token bucket of one subject, whose row has only this limit. It has its own
  loop, and makes as few tables, strings and functions as it can: they would cost more than the decision. An item whose row
  is another one goes to `limit-take-rest`, here `otherwise`.
  Equal to src/guards/rate-limit/algorithms/token-bucket.ts; src/conformance/vectors/rate-limit.ts compares them.

  Input
    KEYS  for each item its row, as in `limit-row-one`
    ARGV  for each run of items with the same request: their number, the caller's time or '' for the server's, name of the
          limit, capacity, unitsPerMs, unitsPerToken, cost (1 or more)

  Output
    the time of the server; then for each item
      admitted: remaining, resetMs
      denied: -1 - remaining, resetMs, retryAfterMs
      failed: its error message
]]
local ROW = '<BdsBdddd'
local LEAST_MS = 1000
local MAX_AHEAD_MS = 10000
-- Failures are results, so that the items before and after them keep theirs.
local call, pack, unpack_bytes = redis.pcall, struct.pack, struct.unpack
local floor, ceil, byte = math.floor, math.ceil, string.byte

local time = call('TIME')
local server_now = time[1] * 1000 + floor(time[2] / 1000)
local count = #KEYS
-- False for what does not exist; of another type, it is false or a failure.
local texts = count > 1 and call('MGET', unpack(KEYS))
local seen = count > 1 and {}
local answer, last = { server_now }, 1
local run_end, next_argument = 0, 1
local now, name, capacity, per_ms, per_token, cost, full, size, offset

for item = 1, count do
  if item > run_end then
    local run, given
    run, given, name, capacity, per_ms, per_token, cost = unpack(ARGV, next_argument, next_argument + 6)
    run_end, next_argument = run_end + run, next_argument + 7
    now = given == '' and server_now or tonumber(given)
    capacity, per_ms, per_token = tonumber(capacity), tonumber(per_ms), tonumber(per_token)
    full, cost = capacity * per_token, cost * per_token
    size, offset = 43 + #name, 11 + #name
  end

  local key, text = KEYS[item], nil
  if seen and not seen[key] then
    text, seen[key] = texts[item], true
  else
    text = call('GET', key)
  end
  local used, from, known_end, is_other = 0, now, 0, false
  if text then
    local limits, ends, row_name, kind, a, b, c, d
    -- With a zero byte behind the name, it fits any text of this size.
    if #text == size and byte(text, offset - 1) == 0 then
      limits, ends, row_name, kind, a, b, c, d = unpack_bytes(ROW, text)
    end
    if
      limits == 1 and row_name == name and kind == 0
      and c == per_token and d == capacity and b - now <= MAX_AHEAD_MS
    then
      known_end, used, from = ends, a, b
      if from < now then
        used, from = used - (now - from) * per_ms, now
        if used < 0 then used = 0 end
      end
    else
      is_other = true
    end
  end

  local wanted = used + cost
  if is_other then
    last = otherwise(answer, last, item, now, server_now, name, capacity, per_ms, per_token, cost)
  elseif wanted > full then
    local remaining, reset = 0, 0
    if used < full then remaining = floor((full - used) / per_token) end
    if used > 0 then reset = ceil(used / per_ms) + from - now end
    answer[last + 1], answer[last + 2] = -1 - remaining, reset
    answer[last + 3] = ceil((wanted - full) / per_ms) + from - now
    last = last + 3
  else
    local reset = ceil(wanted / per_ms) + from - now
    local ends = now + reset
    local is_written
    if ends <= known_end then
      -- Only what changed: the key keeps its expiry.
      is_written = call('SETRANGE', key, offset, pack('<dd', wanted, from)) == size
    else
      -- The key may live a little longer, so that its expiry need not be moved each time.
      if known_end > 0 then ends = ends + floor(reset / 4) end
      if ends < now + LEAST_MS then ends = now + LEAST_MS end
      local row = pack(ROW, 1, ends, name, 0, wanted, from, per_token, capacity)
      -- The caller's time may stand still while the server's, by which keys expire, goes on. As text, because the server
      -- is slow to format a number.
      local ttl = string.format('%.0f', ends - now + (now == server_now and 0 or 3600000))
      local set = call('SET', key, row, 'PX', ttl, text and 'XX' or 'NX')
      is_written = set and set.ok
    end
    if is_written then
      answer[last + 1], answer[last + 2] = floor((full - wanted) / per_token), reset
      last = last + 2
    else
      -- It is of another type, or the server refuses to write, which is told there.
      last = otherwise(answer, last, item, now, server_now, name, capacity, per_ms, per_token, cost)
    end
  end
end
return answer
