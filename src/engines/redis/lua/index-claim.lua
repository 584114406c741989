--[[
  The lease of the index build of a list.

  Input
    keys  metadata, build, manifest, pages
    args  1 incarnation, 2 verb, 3 owner, 4 end of the lease in ms, 5 now in ms
          `claim`: makes the owner the builder, unless there is one; deletes what a dead builder has written
          `renew`: extends the lease of the builder
          `abandon`: ends the claim of the owner, and deletes its pages
          `bury`: the same for a claim whose lease has expired, of any owner

  Output
    1, or 0 if nothing was changed
]]
local function endClaim(keys, incarnation)
  local named = {}
  local found = redis.call('HMGET', keys[3], 'incarnation', 'manifest')
  if found[1] == incarnation then
    for _, page in ipairs(cjson.decode(found[2]).pages) do
      named[page.name] = true
    end
  end
  for _, name in ipairs(redis.call('HKEYS', keys[4])) do
    if not named[name] then redis.call('HDEL', keys[4], name) end
  end
  redis.call('DEL', keys[2])
end

return function(keys, args)
  local incarnation, verb, owner, leaseEnd, now = args[1], args[2], args[3], args[4], tonumber(args[5])
  local claim = redis.call('HMGET', keys[2], 'owner', 'until', 'incarnation')
  local isLive = claim[3] == incarnation and tonumber(claim[2]) > now
  local isOwn = claim[3] == incarnation and claim[1] == owner
  if not list.isAlive(keys[1], incarnation) then return 0 end
  if verb == 'claim' then
    if isLive then return 0 end
    endClaim(keys, incarnation)
  elseif verb == 'renew' then
    if not isOwn then return 0 end
  else
    if not claim[1] or (verb == 'abandon' and not isOwn) or (verb == 'bury' and isLive) then return 0 end
    endClaim(keys, incarnation)
    return 1
  end
  redis.call('HSET', keys[2], 'owner', owner, 'until', leaseEnd, 'incarnation', incarnation)
  return 1
end
