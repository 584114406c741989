--[[
  States after the clock of this server was set back: the twin of src/guards/rate-limit/algorithms/rewound.ts.
]]
local MAX_AHEAD_MS = 10000

return {
  -- Whether a time is so far ahead that the clock was set back.
  is_ahead = function(now, time) return time - now > MAX_AHEAD_MS end,

  -- The start of a window: the use counts in the next window at the latest.
  start = function(now, start, period)
    if start - now <= MAX_AHEAD_MS then return start end
    return math.min(start, now - now % period + period)
  end,
}
