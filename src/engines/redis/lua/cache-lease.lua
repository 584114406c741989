--[[
  The value of `{key}:fill`: the number of the last invalidation when the fill began, and its token.

  tokenOf(text), numberOf(text)
]]
local function tokenOf(text)
  return string.match(text, '^%-?%d+ (.*)$')
end

local function numberOf(text)
  return tonumber(string.match(text, '^%-?%d+'))
end

return { tokenOf = tokenOf, numberOf = numberOf }
