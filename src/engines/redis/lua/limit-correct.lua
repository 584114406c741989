--[[
  Adjusts what a lease has consumed of a subject, gives it back, or undoes what was consumed a moment ago.

  Input
    keys  row and log of the subject, and the state of the lease: a sum of deltas for each limit, then `;` and the names
          of its last adjustments; or `back`
    args  `adjust`, `back` or `undo`,
          plan (amount: what was consumed at first, extra: the delta),
          when that was, when the lease expires, how (see `limit-plan`), the name of the adjustment

  Output
    1, or 0 if the lease was given back or has expired; and 1 if capacity was freed that other callers may have been
    denied

  Runs after `limit-plan` and `limit-row-one`; loads `limit-row`.
]]
local SLOTS = 4
local limit_row = limit_row()
local BACK = 'back'
local KNOWN_ADJUSTMENTS = 64 -- as in src/guards/rate-limit/adjustments.ts

-- What to add to each limit, and the sums to store.
local function amounts_of(verb, rules, known)
  local amounts, sums = {}, {}
  local next_sum = string.gmatch(known or '', '%-?%d+')
  for i, rule in ipairs(rules) do
    local sum = tonumber(next_sum() or 0)
    if verb == 'adjust' then
      -- A lease never gives back more than it consumed.
      amounts[i] = math.max(rule.extra, -(rule.amount + sum))
    else
      amounts[i] = -(rule.amount + sum)
    end
    sums[i] = string.format('%.0f', sum + amounts[i])
  end
  return amounts, table.concat(sums, ' ')
end

-- Names, each between spaces; the oldest are removed.
local function with_adjustment(adjustments, name)
  local names = {}
  for known in string.gmatch(adjustments, '%S+') do names[#names + 1] = known end
  names[#names + 1] = name
  local first = math.max(1, #names - KNOWN_ADJUSTMENTS + 1)
  return ' ' .. table.concat(names, ' ', first) .. ' '
end

-- Returns when the state of the limit expires, in ms from now.
local function correct(row, log_key, rule, amount, taken, now)
  if limit_row.is_other(row, rule) then return 0 end
  local algorithm = rule.algorithm
  local a, b, c, d = algorithm.correct(rule, amount, taken, now, log_key, limit_row.get(row, rule))
  limit_row.put(row, rule, a, b, c, d)
  return (select(2, algorithm.take(rule, 0, now, log_key, a, b, c, d)))
end

return function(keys, args)
  local verb, rules = args[1], limit_plan.of(args[2])
  local taken, ends, now = tonumber(args[3]), tonumber(args[4]), (limit_plan.how(args[5]))
  local known = false
  if verb ~= 'undo' then
    if ends <= now then return { 0, 0 } end
    known = redis.call('GET', keys[3])
    if known == BACK then return { 0, 0 } end
  end

  local sums_before, adjustments = string.match(known or '', '^([^;]*);?(.*)$')
  if verb == 'adjust' then
    if string.find(adjustments, ' ' .. args[6] .. ' ', 1, true) then return { 1, 0 } end
    adjustments = with_adjustment(adjustments, args[6])
  end
  local amounts, sums = amounts_of(verb, rules, sums_before)
  local row, longest, freed = limit_row.read(keys[1]), 0, 0
  for i, rule in ipairs(rules) do
    if amounts[i] ~= 0 then
      longest = math.max(longest, correct(row, keys[2], rule, amounts[i], taken, now))
      -- Denials of concurrency slots are not cached, because slots are freed all the time.
      if amounts[i] < 0 and rule.kind ~= SLOTS then freed = 1 end
    end
  end
  limit_row.write(keys[1], keys[2], row, now + longest, now)
  if verb ~= 'undo' then
    local text = verb == 'back' and BACK or sums .. ';' .. adjustments
    redis.call('SET', keys[3], text, 'PX', limit_plan.ttl(ends - now))
  end
  return { 1, freed }
end
