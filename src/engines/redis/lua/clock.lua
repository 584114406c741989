--[[
  The clock of the server.

  nowMs() -> milliseconds since the epoch
]]
local function nowMs()
  local time = redis.call('TIME')
  return tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
end

return { nowMs = nowMs }
