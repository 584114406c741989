--[[
  Adds to the usage of a resource in an hour. Fields are `a:LIMIT` (admitted) and `d:LIMIT` (denied) for the total,
  `A:LIMIT:ENTITY` and `D:LIMIT:ENTITY` for the heaviest entities. If there are more than twice as many entities as
  wanted, the lightest are removed.

  Input
    keys  the hour
    args  time to live from now on, in ms; wanted number of entities; number of limits that follow, for each: name,
          admitted, denied; then for each entity: name, limit, admitted, denied
]]
local SLACK = 2

-- Returns whether the field is new.
local function add(key, field, amount)
  if amount == '0' then return false end
  return redis.call('HINCRBY', key, field, amount) == tonumber(amount)
end

local function trim(key, most)
  local fields, weights, names = redis.call('HGETALL', key), {}, {}
  for i = 1, #fields, 2 do
    local entity = string.match(fields[i], '^[AD]:[^:]+:(.+)$')
    if entity ~= nil then
      if weights[entity] == nil then
        weights[entity] = 0
        names[#names + 1] = entity
      end
      weights[entity] = weights[entity] + tonumber(fields[i + 1])
    end
  end
  if #names <= SLACK * most then return end
  table.sort(names, function(a, b)
    if weights[a] ~= weights[b] then return weights[a] > weights[b] end
    return a < b
  end)
  for i = most + 1, #names do weights[names[i]] = nil end
  for i = 1, #fields, 2 do
    local entity = string.match(fields[i], '^[AD]:[^:]+:(.+)$')
    if entity ~= nil and weights[entity] == nil then redis.call('HDEL', key, fields[i]) end
  end
end

return function(keys, args)
  local key, kept, most, limits = keys[1], args[1], tonumber(args[2]), tonumber(args[3])
  local at = 4
  for _ = 1, limits do
    add(key, 'a:' .. args[at], args[at + 1])
    add(key, 'd:' .. args[at], args[at + 2])
    at = at + 3
  end
  local grows = false
  while at < #args do
    local entity, limit = args[at], args[at + 1]
    if add(key, 'A:' .. limit .. ':' .. entity, args[at + 2]) then grows = true end
    if add(key, 'D:' .. limit .. ':' .. entity, args[at + 3]) then grows = true end
    at = at + 4
  end
  if grows then trim(key, most) end
  redis.call('PEXPIRE', key, kept)
end
