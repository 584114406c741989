--[[
  Tells all instances of something, numbered without gaps, so that they notice what they missed.

  Input
    keys  the number of the last notice
    args  channel, text

  Output
    the number of this one
]]
return function(keys, args)
  return cache_value.tell(keys[1], args[1], args[2])
end
