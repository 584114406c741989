--[[
  Whether a call is the next one of the keeper. Every call names the step that it stands behind and the one that it
  makes: a call that comes late, because it was held up on its way and sent again or overtaken by another keeper, finds
  another step and does nothing.
]]
return {
  goesOn = function(control, before, after, leaseMs)
    if redis.call('HGET', control, 'step') ~= before then return false end
    local time = redis.call('TIME')
    local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
    redis.call('HSET', control, 'step', after, 'until', string.format('%.0f', now + tonumber(leaseMs)))
    return true
  end,
}
