--[[
  Whether a call is the next one of the keeper. Every call names the step that it stands behind and the one that it
  makes: a call that comes late, because it was held up on its way and sent again or overtaken by another keeper, finds
  another step and does nothing. It needs clock.
]]
return {
  goesOn = function(control, before, after, leaseMs)
    if redis.call('HGET', control, 'step') ~= before then return false end
    local now = clock.nowMs()
    redis.call('HSET', control, 'step', after, 'until', string.format('%.0f', now + tonumber(leaseMs)))
    return true
  end,
}
