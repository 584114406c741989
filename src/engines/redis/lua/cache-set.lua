--[[
  The ids of the claims of an entry are a set, as in the DICT documents, because other programs add to it. It is read as
  the list of its members. If there are no members, there is no set and nothing is stored.

  read(key)              the members as a JSON array, or nil if it is not such a set
  put(key, value, life)  whether it is such a set and the value, a JSON array of texts, was stored
  fits(key)              whether there is nothing, an entry, or such a set; otherwise it belongs to another program
]]
local PREFIX = 'dict:claim:index:entry:'

local function is_named(key)
  return string.sub(key, 1, #PREFIX) == PREFIX
end

local function texts_of(value)
  local isRead, list = pcall(cjson.decode, value)
  if not isRead or type(list) ~= 'table' then return nil end
  for _, text in ipairs(list) do
    if type(text) ~= 'string' then return nil end
  end
  return list
end

local function put(key, value, life)
  local list = is_named(key) and texts_of(value)
  if not list then return false end
  redis.call('UNLINK', key)
  for _, text in ipairs(list) do redis.call('SADD', key, text) end
  redis.call('PEXPIRE', key, life)
  return true
end

local function read(key)
  local is_set = is_named(key) and redis.call('TYPE', key).ok == 'set'
  return is_set and cjson.encode(redis.call('SMEMBERS', key)) or nil
end

local function fits(key)
  local found = redis.call('TYPE', key).ok
  return found == 'none' or found == 'string' or (found == 'set' and is_named(key))
end

return { read = read, put = put, fits = fits }
