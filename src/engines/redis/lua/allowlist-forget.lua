--[[
  Drops what a deleted list has beside its members, and at last its metadata, with which its id is free again.

  Input
    keys  metadata, imports, build, manifest, pages
    args  1 incarnation of the deleted list, 2 `rest` or `metadata`

  Output
    1, or 0 when the list is no longer there
]]
return function(keys, args)
  local found = redis.call('HMGET', keys[1], 'incarnation', 'deleted')
  if found[1] ~= args[1] or not found[2] then return 0 end
  if args[2] == 'metadata' then
    redis.call('DEL', keys[1])
  else
    redis.call('UNLINK', keys[2], keys[3], keys[4], keys[5])
  end
  return 1
end
