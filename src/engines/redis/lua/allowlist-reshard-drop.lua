--[[
  Deletes a shard that its list has moved away from, or that an abandoned move has filled. For a while the shard stays
  marked as moved, so that a process that was suspended does not take it for one that was never opened.

  Input
    keys  those of the shard (shard.lua), writers, old
    args  1 incarnation, 2 generation: a shard of this generation or a later one is in use

  Output
    1, or 0 if it is in use
]]
local REMEMBERED_MS = 600000

return function(keys, args)
  local it = shard.read(keys)
  if it.incarnation and (it.incarnation ~= args[1] or tonumber(it.generation) >= tonumber(args[2])) then return 0 end
  redis.call('UNLINK', unpack(keys))
  redis.call('HSET', it.keys.state, 'incarnation', args[1], 'generation', '-1', 'frozen', 'moved')
  redis.call('PEXPIRE', it.keys.state, REMEMBERED_MS)
  return 1
end
