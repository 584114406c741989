--[[
  The lease of an import, as text in the field `IMPORT_ID#claim` of the imports: STATE MODE LEASE_UNTIL UPDATED_AT
  STARTED_AT OWNER. Its progress is in the field `IMPORT_ID`, which scripts never parse.

  read(importsKey, importId) -> { state, mode, leaseUntil, updatedAt, startedAt, owner }, or nil
  write(importsKey, importId, claim)
  isLive(claim, now) -> whether its lease is valid
  owned(metaKey, importsKey, incarnation, importId, owner) -> claim, or nil and `list-not-found` or `lost`
]]
local function read(importsKey, importId)
  local text = redis.call('HGET', importsKey, importId .. '#claim')
  if not text then return nil end
  local state, mode, leaseUntil, updatedAt, startedAt, owner = string.match(text, '^(%S+) (%S+) (%S+) (%S+) (%S+) (.*)$')
  return {
    state = state, mode = mode, leaseUntil = tonumber(leaseUntil), updatedAt = updatedAt, startedAt = startedAt,
    owner = owner,
  }
end

local function write(importsKey, importId, claim)
  local text = string.format('%s %s %.0f %s %s %s', claim.state, claim.mode, claim.leaseUntil, claim.updatedAt,
    claim.startedAt, claim.owner)
  redis.call('HSET', importsKey, importId .. '#claim', text)
end

local function isLive(claim, now)
  return claim ~= nil and claim.state == 'running' and claim.leaseUntil > now
end

local function owned(metaKey, importsKey, incarnation, importId, owner)
  local meta = redis.call('HMGET', metaKey, 'incarnation', 'deleted')
  if meta[1] ~= incarnation or meta[2] then return nil, 'list-not-found' end
  local claim = read(importsKey, importId)
  if claim == nil or claim.owner ~= owner then return nil, 'lost' end
  return claim
end

return { read = read, write = write, isLive = isLive, owned = owned }
