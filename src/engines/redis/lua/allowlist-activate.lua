--[[
  Brings a shard to the generation that its list has switched to. Any process that finds a shard behind its list may run
  it.

  Input
    keys  those of the shard (shard.lua), old
    args  1 incarnation, 2 generation of the list, 3 now in ms, 4 mark, 5 bytes that the log may have, 6 channel,
          7 list id

  Output
    'active' | 'gone' | 'frozen' | 'behind': no replace has built that generation here
]]
return function(keys, args)
  local it, old = shard.read(keys), keys[11]
  if it.incarnation ~= args[1] then return 'gone' end
  if tonumber(it.generation) >= tonumber(args[2]) then return 'active' end
  if it.frozen then return 'frozen' end
  if it.next ~= args[2] then return 'behind' end
  allowlist_activate_shard.switch(it, old, args[2], '\255', tonumber(args[3]), tonumber(args[4]), tonumber(args[5]),
    args[6], args[7])
  return 'active'
end
