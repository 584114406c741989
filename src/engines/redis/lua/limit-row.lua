--[[
  The usage of all limits of a subject, as bytes, because text would cost more than the decision: the number of limits
  (1 byte), when the key expires (a double), then for each limit its name and a zero byte, its kind (1 byte) and the
  four numbers of its state (doubles), all little-endian. Here it is a flat table with the same order.

  Runs after `limit-row-one`.
]]
local HEAD, ENTRY = '<Bd', 'sBdddd'
local ONE, TWO = '<BdsBdddd', '<BdsBddddsBdddd'
local FIRST, SIZE = 3, 6 -- index of the first limit, and fields per limit
local call, pack_bytes, unpack_bytes, byte = redis.call, struct.pack, struct.unpack, string.byte

local function format_of(count)
  if count == 1 then return ONE end
  if count == 2 then return TWO end
  return HEAD .. string.rep(ENTRY, count)
end

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

local function fields(text) return { unpack_bytes(format_of(byte(text)), text) } end

return {
  read = function(key)
    local text = call('GET', key)
    if not text then return { 0, 0 } end
    local ran, row = pcall(fields, text)
    -- A value of another program is not changed.
    if not ran then error({ err = 'WRONGTYPE what is used of a subject is something else' }, 0) end
    return row
  end,

  -- The state of a limit; nil if there is none of its kind.
  get = function(row, rule)
    local i = find(row, rule.name)
    if i == nil or row[i + 1] ~= rule.kind then return nil end
    return row[i + 2], row[i + 3], row[i + 4], row[i + 5]
  end,

  -- Whether another algorithm than that of the rule has counted since.
  is_other = function(row, rule)
    local i = find(row, rule.name)
    return i ~= nil and row[i + 1] ~= rule.kind
  end,

  -- Without a first number nothing is stored.
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
    if row[1] == 0 then return call('DEL', key) end
    local known_end = row[2]
    row[2] = limit_row_one.end_of(known_end, ends, now)
    local text = pack_bytes(format_of(row[1]), unpack(row, 1, FIRST - 1 + row[1] * SIZE))
    limit_row_one.store(key, log_key, text, row[2] == known_end, row[2], now)
  end,
}
