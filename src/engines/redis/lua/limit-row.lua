--[[
  What is used of all limits of a subject, as bytes, because text costs more than the decision: when the key expires (a
  double), then for each limit the length of its name (2 bytes), the name, the kind (1 byte) and four
  doubles, all little-endian. Here it is a flat table: the end, then SIZE fields for each limit.

  Runs after `limit-plan`.
]]
local FIRST, ENTRY = '<dHc0Bdddd', '<Hc0Bdddd'
local SIZE = 6
local GONE = 255
local LEAST_MS = 1000
local pack, unpack_struct, format, floor = struct.pack, struct.unpack, string.format, math.floor
local max = math.max

local function find(row, name)
  for i = 2, #row, SIZE do
    if row[i] == name then return i end
  end
  return nil
end

return {
  read = function(key)
    local text = redis.call('GET', key)
    if not text then return { 0 } end
    local row, at, last = { (unpack_struct('<d', text)) }, 9, 1
    while at <= #text do
      row[last + 1], row[last + 2], row[last + 3], row[last + 4], row[last + 5], row[last + 6], at =
        unpack_struct(ENTRY, text, at)
      last = last + SIZE
    end
    return row
  end,

  -- The state of a limit; nil where there is none of its kind.
  get = function(row, rule)
    local i = find(row, rule.name)
    if i == nil or row[i + 1] ~= rule.kind then return nil end
    return row[i + 2], row[i + 3], row[i + 4], row[i + 5]
  end,

  -- Whether another algorithm than that of the rule has counted since.
  is_other = function(row, rule)
    local i = find(row, rule.name)
    return i ~= nil and row[i + 1] ~= rule.kind and row[i + 1] ~= GONE
  end,

  set = function(row, rule, a, b, c, d)
    local i = find(row, rule.name)
    if i == nil then
      if a == nil then return end
      i = #row + 1
      row[i] = rule.name
    end
    row[i + 1] = a == nil and GONE or rule.kind
    row[i + 2], row[i + 3], row[i + 4], row[i + 5] = a or 0, b or 0, c or 0, d or 0
  end,

  -- Everything up to `ends` is needed. The key may live a little longer: to move its end each time, or to make the key
  -- anew, costs as much as all the rest, so it is moved by a stretch.
  write = function(key, log_key, row, ends, now)
    local keeps_end = ends <= row[1]
    if keeps_end then
      ends = row[1]
    else
      local stretch = row[1] > 0 and floor((ends - now) / 4) or 0
      ends = max(ends + stretch, now + LEAST_MS)
    end
    local text
    if #row == 1 + SIZE and row[3] ~= GONE then
      text = pack(FIRST, ends, #row[2], row[2], row[3], row[4], row[5], row[6], row[7])
    else
      text = pack('<d', ends)
      for i = 2, #row, SIZE do
        if row[i + 1] ~= GONE then
          text = text .. pack(ENTRY, #row[i], row[i], row[i + 1], row[i + 2], row[i + 3], row[i + 4], row[i + 5])
        end
      end
    end
    if #text == 8 then
      redis.call('DEL', key)
      return
    end
    if keeps_end then
      redis.call('SET', key, text, 'KEEPTTL')
    else
      -- As text: the server takes its time to write a number.
      redis.call('SET', key, text, 'PX', format('%.0f', limit_plan.ttl(ends - now)))
    end
    if log_key ~= nil then redis.call('PEXPIRE', log_key, format('%.0f', limit_plan.ttl(ends - now))) end
  end,
}
