--[[
  Records in the reverse index of a customer that a list contains it, or no longer does, unless a newer version is
  recorded. Needs clock.

  Input
    keys  the hash of the customer
    args  1 list id, 2 `+` or `-`, 3 incarnation, 4 layout, 5 sequence

  Output
    1, or 0 if the recorded version is newer

  Fields: list id -> `+INCARNATION:LAYOUT:SEQUENCE`, or `-INCARNATION:LAYOUT:SEQUENCE:TIME`, which stays for a while so
  that a late `+` of an earlier change is recognised.
]]
local KEPT_MS = 600000
local MAX_LOOKED_AT = 200

local function isNewer(known, sign, incarnation, layout, sequence)
  local knownSign, a, b, c = string.match(known, '^([+-])(%d+):(%d+):(%d+)')
  if not a then return true end
  a, b, c = tonumber(a), tonumber(b), tonumber(c)
  if incarnation ~= a then return incarnation > a end
  if layout ~= b then return layout > b end
  if sequence ~= c then return sequence > c end
  return sign == '-' and knownSign == '+'
end

-- If a customer has very many lists, checks some at random each time: enough to limit the number of old fields.
local function forgetOld(key, nowMs)
  local isLarge = redis.call('HLEN', key) > MAX_LOOKED_AT
  local held = isLarge
  local fields = isLarge and redis.call('HRANDFIELD', key, MAX_LOOKED_AT, 'WITHVALUES') or redis.call('HGETALL', key)
  for i = 1, #fields, 2 do
    local moment = string.match(fields[i + 1], '^%-.*:(%d+)$')
    if not moment then
      held = true
    elseif tonumber(moment) + KEPT_MS < nowMs then
      redis.call('HDEL', key, fields[i])
    end
  end
  return held
end

return function(keys, args)
  local key, listId, sign = keys[1], args[1], args[2]
  local version = sign .. args[3] .. ':' .. args[4] .. ':' .. args[5]
  local isFirst = sign == '+' and redis.call('HSETNX', key, listId, version) == 1
  -- A new hash, as for nearly every row of an import: nothing to compare with or to clean up, and no expiry.
  if isFirst and redis.call('HLEN', key) == 1 then return 1 end
  if not isFirst then
    local known = redis.call('HGET', key, listId)
    local newer = not known or isNewer(known, sign, tonumber(args[3]), tonumber(args[4]), tonumber(args[5]))
    if not newer then return 0 end
  end
  local nowMs = clock.nowMs()
  if sign == '-' then
    version = version .. ':' .. string.format('%.0f', nowMs)
    -- First a command that needs no memory: after it, a full server allows the rest. Lists must be deletable to free
    -- memory.
    redis.call('HDEL', key, listId)
  end
  redis.call('HSET', key, listId, version)
  if forgetOld(key, nowMs) then
    redis.call('PERSIST', key)
  else
    redis.call('PEXPIRE', key, KEPT_MS)
  end
  return 1
end
