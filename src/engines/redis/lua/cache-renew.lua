--[[
  Extends a lease, or releases it if the length is ''.

  Input
    keys  fill
    args  token, length in ms or ''

  Output
    1 if the token held the lease
]]
return function(keys, args)
  local held = redis.call('GET', keys[1])
  if not held or cache_lease.tokenOf(held) ~= args[1] then return 0 end
  if args[2] == '' then
    redis.call('DEL', keys[1])
  else
    redis.call('PEXPIRE', keys[1], args[2])
  end
  return 1
end
