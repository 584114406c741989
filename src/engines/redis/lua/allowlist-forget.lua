--[[
  Deletes what a deleted list has beside its members and, as the last step, its metadata. Then its id is free again.

  Input
    keys  metadata, imports, build, manifest, pages
    args  1 incarnation of the deleted list, 2 `rest` or `metadata`

  Output
    1, or 0 if the list no longer exists
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
