--[[
  What is used of all limits of a subject, as bytes, because text costs more than the decision: how many limits (1 byte),
  when the key expires (a double), then for each limit its name with a zero behind it, its kind (1 byte) and the four
  numbers of its state (doubles), all little-endian. Here it is a flat table of the same, in the same order.

  Runs after `limit-plan`.
]]
local HEAD, ENTRY = '<Bd', 'sBdddd'
local FORMATS = { '<BdsBdddd', '<BdsBddddsBdddd' }
local FIRST, SIZE = 3, 6 -- where the first limit is, and what it takes
local LEAST_MS = 1000
local call, pack_bytes, unpack_bytes, byte = redis.call, struct.pack, struct.unpack, string.byte

local function format_of(count) return FORMATS[count] or HEAD .. string.rep(ENTRY, count) end

local function find(row, name)
  for i = FIRST, FIRST + (row[1] - 1) * SIZE, SIZE do
    if row[i] == name then return i end
  end
  return nil
end

local function remove(row, i)
  local last = FIRST + (row[1] - 1) * SIZE
  for field = 0, SIZE - 1 do row[i + field] = row[last + field] end
  row[1] = row[1] - 1
end

-- Everything up to `ends` is needed. The key may live a little longer: to move its end each time, or to make the key
-- anew, costs as much as all the rest, so it is moved by a stretch.
local function stretched(known_end, ends, now)
  local stretch = known_end > 0 and math.floor((ends - now) / 4) or 0
  return math.max(ends + stretch, now + LEAST_MS)
end

return {
  read = function(key)
    local text = call('GET', key)
    if not text then return { 0, 0 } end
    return { unpack_bytes(format_of(byte(text)), text) }
  end,

  -- The state of a limit; nil where there is none of its kind.
  get = function(row, rule)
    local i = find(row, rule.name)
    if i == nil or row[i + 1] ~= rule.kind then return nil end
    return row[i + 2], row[i + 3], row[i + 4], row[i + 5]
  end,

  -- Without a first number nothing is kept.
  put = function(row, rule, a, b, c, d)
    local i = find(row, rule.name)
    if a == nil then
      if i ~= nil then remove(row, i) end
      return
    end
    if i == nil then
      i = FIRST + row[1] * SIZE
      row[1] = row[1] + 1
      row[i] = rule.name
    end
    row[i + 1], row[i + 2], row[i + 3], row[i + 4], row[i + 5] = rule.kind, a, b or 0, c or 0, d or 0
  end,

  write = function(key, log_key, row, ends, now)
    if row[1] == 0 then
      call('DEL', key)
      return
    end
    local keeps_end = ends <= row[2]
    if not keeps_end then row[2] = stretched(row[2], ends, now) end
    local text = pack_bytes(format_of(row[1]), unpack(row, 1, FIRST - 1 + row[1] * SIZE))
    -- As text: the server takes its time to write a number.
    local ttl = (log_key ~= nil or not keeps_end) and string.format('%.0f', limit_plan.ttl(row[2] - now))
    if keeps_end then
      call('SET', key, text, 'KEEPTTL')
    else
      call('SET', key, text, 'PX', ttl)
    end
    if log_key ~= nil then call('PEXPIRE', log_key, ttl) end
  end,
}
