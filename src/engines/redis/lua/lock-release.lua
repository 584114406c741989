--[[
  For each item of a batch, releases a lock, and notifies waiters if there are any. It has its own loop, so that each item
  costs little.

  Input
    KEYS  for each item: the lock, the waiting mark
    ARGV  the channel; then for each item: name, and the owner, or '' to release it for any holder

  Output
    for each item: 1; 0 if the owner does not hold it; or its error message

  For each item, everything is checked before the first write.
]]
-- Failures are results, so that the items before and after them keep theirs.
local call = redis.pcall

local function failure_of(reply) return type(reply) == 'table' and reply.err end

local function release(key, mark_key, name, owner)
  local holder = call('GET', key)
  if owner == '' then
    local failure = failure_of(holder)
    if failure then return failure end
  elseif holder ~= owner then
    return 0
  end
  local mark = call('GET', mark_key)
  if not mark then
    local freed = call('DEL', key)
    return failure_of(freed) or freed
  end
  local failure = failure_of(mark) or failure_of(call('DEL', key, mark_key))
  if failure then return failure end
  call('PUBLISH', ARGV[1], name)
  return holder and 1 or 0
end

local answer = {}
for item = 1, #KEYS / 2 do
  answer[item] = release(KEYS[2 * item - 1], KEYS[2 * item], ARGV[2 * item], ARGV[2 * item + 1])
end
return answer
