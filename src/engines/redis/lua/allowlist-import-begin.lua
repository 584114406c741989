--[[
  Begins or takes over an import.

  Input
    KEYS  meta, imports
    ARGV  import id, mode, owner, now, end of the lease, checkpoint of an import that has not started

  Output
    { 'list-not-found' | 'other-mode' | 'import-running' | 'replace-running' }
    { 'completed' | 'begun' | 'resumed', incarnation, claim, checkpoint, generation that the replace builds or '' }
    { 'abandoned' }  a dead replace must be abandoned first
    { 'moving' }     no replace can begin while the list moves to another number of shards
]]
local imports = allowlist_import_claim

local function blocked(keys, replacing, moving, now)
  if moving then return 'moving' end
  if not replacing then return nil end
  local other = cjson.decode(replacing).importId
  return imports.isLive(imports.read(keys[2], other), now) and 'replace-running' or 'abandoned'
end

return function(keys, args)
  local importId, mode, owner, now = args[1], args[2], args[3], tonumber(args[4])
  local meta = redis.call('HMGET', keys[1], 'incarnation', 'deleted', 'replacing', 'moving', 'generation', 'lastGeneration')
  if not meta[1] or meta[2] then return { 'list-not-found' } end
  local claim = imports.read(keys[2], importId)
  if claim ~= nil then
    if claim.mode ~= mode then return { 'other-mode' } end
    if claim.state == 'completed' then
      local texts = redis.call('HMGET', keys[2], importId .. '#claim', importId)
      return { 'completed', meta[1], texts[1], texts[2], '' }
    end
    if imports.isLive(claim, now) and claim.owner ~= owner then return { 'import-running' } end
  end
  local generation = ''
  if mode == 'replace' then
    -- The call was sent again because no reply came: it must not block itself.
    local isOwn = claim ~= nil and claim.owner == owner
    local reason = blocked(keys, not isOwn and meta[3], meta[4], now)
    if reason ~= nil then return { reason } end
    local last = math.max(tonumber(meta[5] or 0), tonumber(meta[6] or 0)) + 1
    generation = string.format('%.0f', last)
    redis.call('HSET', keys[1], 'lastGeneration', generation,
      'replacing', cjson.encode({ importId = importId, generation = last }))
  end
  -- A replace starts again from the beginning: nothing of an earlier attempt is reused.
  if claim == nil or mode == 'replace' then redis.call('HSET', keys[2], importId, args[6]) end
  imports.write(keys[2], importId, {
    state = 'running', mode = mode, leaseUntil = tonumber(args[5]), updatedAt = args[4],
    startedAt = claim and claim.startedAt or args[4], owner = owner,
  })
  local texts = redis.call('HMGET', keys[2], importId .. '#claim', importId)
  return { claim == nil and 'begun' or 'resumed', meta[1], texts[1], texts[2], generation }
end
