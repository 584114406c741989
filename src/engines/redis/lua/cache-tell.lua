--[[
  Publishes a notice to all instances, numbered without gaps, so that they detect missed ones.

  Input
    keys  the number of the last notice
    args  channel, text

  Output
    the number of this notice
]]
return function(keys, args)
  return cache_value.tell(keys[1], args[1], args[2])
end
