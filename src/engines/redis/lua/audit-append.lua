--[[
  Adds entries to one day. All have the same score, so that they sort by their text, which begins with the id.

  Input
    keys  the entries of the day
    args  minimum time to live of the key in ms, then the entries
]]
local SLACK_MS = 60000

return function(keys, args)
  local members = {}
  for i = 2, #args do
    members[#members + 1] = 0
    members[#members + 1] = args[i]
  end
  redis.call('ZADD', keys[1], unpack(members))
  -- The expiry is only ever moved later, and not for the few milliseconds by which clocks differ.
  local left = redis.call('PTTL', keys[1])
  if left < 0 or left < tonumber(args[1]) - SLACK_MS then redis.call('PEXPIRE', keys[1], args[1]) end
end
