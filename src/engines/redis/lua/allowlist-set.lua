--[[
  Changes a set of lists, or none if one of them is not as expected.

  Input
    KEYS  for each step: metadata; attributes, state and log of a single shard
    ARGV  for each step: `create`, `update` or `delete`; the version that the list must have, empty for one that must not
          exist; the number of arguments; the arguments of the operation of that name

  Output
    the places of the steps, from 1, whose list is not as expected, and of those whose list is still being deleted

  Loads `allowlist-create`, `allowlist-update`, `allowlist-delete`.
]]
-- Which of the four keys an operation takes, in its own order.
local OPERATIONS = {
  create = { run = allowlist_create, takes = { 1, 2, 3, 4 } },
  update = { run = allowlist_update, takes = { 1 } },
  delete = { run = allowlist_delete, takes = { 1, 3, 2 } },
}

local steps, moved, leaving = {}, {}, {}
local argument = 1
for place = 1, #KEYS / KEYS_PER_ITEM do
  local step = { operation = OPERATIONS[ARGV[argument]], keys = {}, args = {} }
  local version = ARGV[argument + 1]
  for i, taken in ipairs(step.operation.takes) do
    local key = KEYS[(place - 1) * KEYS_PER_ITEM + taken]
    local found = redis.call('TYPE', key).ok
    if found ~= 'none' and found ~= KEY_TYPES[taken] then
      error({ err = 'WRONGTYPE ' .. key .. ' holds something of another program' }, 0)
    end
    step.keys[i] = key
  end
  for i = 1, tonumber(ARGV[argument + 2]) do
    step.args[i] = ARGV[argument + 2 + i]
  end
  argument = argument + 3 + #step.args
  local list = redis.call('HMGET', step.keys[1], 'version', 'deleted')
  if version ~= '' then
    if list[2] or list[1] ~= version then moved[#moved + 1] = place end
  elseif list[2] then
    leaving[#leaving + 1] = place
  elseif redis.call('EXISTS', step.keys[1]) == 1 then
    moved[#moved + 1] = place
  end
  steps[place] = step
end
if #moved + #leaving > 0 then return { moved, leaving } end
for _, step in ipairs(steps) do
  step.operation.run(step.keys, step.args)
end
return { moved, leaving }
