--[[
  Begins a fill, unless there is an entry that needs none, or another fill is running.

  Input
    keys  value, fill
    args  1 token, 2 number of the last known invalidation, 3 length of the lease in ms, 4 an entry that lives longer
          than this many ms needs no fill ('': every entry does), 5 '1' to take the lease from its holder

  Output
    { 'found', value, ms left or -1 without an expiry }, { 'held', ms left } or { 'filling' }
]]
local function found(key, freshAbove)
  local left = redis.call('PTTL', key)
  if freshAbove == nil or left == -2 or (left >= 0 and left <= freshAbove) then return nil end
  local value = redis.pcall('GET', key)
  if type(value) == 'table' then value = cache_set.read(key) end
  if type(value) == 'string' then return { 'found', value, left } end
end

return function(keys, args)
  if args[5] ~= '1' then
    local entry = found(keys[1], tonumber(args[4]))
    if entry then return entry end
    local held = redis.call('GET', keys[2])
    if held and cache_lease.tokenOf(held) ~= args[1] then
      return { 'held', redis.call('PTTL', keys[2]) }
    end
  end
  redis.call('SET', keys[2], args[2] .. ' ' .. args[1], 'PX', args[3])
  return { 'filling' }
end
