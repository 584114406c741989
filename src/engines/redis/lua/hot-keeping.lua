--[[
  Whether a call is the next one of the updater. Every call names the step before it and its own step. A late call,
  which was delayed and sent again or overtaken by another updater, finds another step and does nothing. Needs clock.
]]
return {
  goesOn = function(control, before, after, leaseMs)
    if redis.call('HGET', control, 'step') ~= before then return false end
    local now = clock.nowMs()
    redis.call('HSET', control, 'step', after, 'until', string.format('%.0f', now + tonumber(leaseMs)))
    return true
  end,
}
