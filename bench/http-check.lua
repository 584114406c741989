-- Checks of random customers, half of them members. Arguments: key, members.
local requests = {}
local next_request = 0
local PREPARED = 100000

-- The same numbering as in http-check.ts; exact in doubles up to 11 million.
local function customer(i)
  return string.format("%08x-0000-4000-8000-%012x", (i * 800000011) % 4294967296, i)
end

function init(args)
  local key, members = args[1], tonumber(args[2])
  local headers = { ["authorization"] = "Bearer " .. key }
  math.randomseed(20240613)
  for n = 1, PREPARED do
    local i = math.random(0, 2 * members - 1)
    local path = "/customers/" .. customer(i) .. "/check?allowlists=vip,wave"
    requests[n] = wrk.format("GET", path, headers)
  end
end

function request()
  next_request = next_request % PREPARED + 1
  return requests[next_request]
end
