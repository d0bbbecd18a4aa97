-- What wrk sends, from a file; and what it counted, as one line of JSON.
local file = assert(io.open(os.getenv("LOAD_REQUESTS_FILE"), "rb"))
local requests = {}
for each in (file:read("*a") .. "\0"):gmatch("(%Z*)%z") do requests[#requests + 1] = each end
file:close()
if #requests == 1 then
  -- wrk calls this once, and `request` for each request.
  wrk.format = function() return requests[1] end
else
  local sent = 0
  request = function()
    sent = sent + 1
    return requests[(sent - 1) % #requests + 1]
  end
end

done = function(summary)
  local failures = summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.timeout
  io.write(string.format('{"requests":%d,"microseconds":%d,"failures":%d,"errors":%d}\n',
    summary.requests, summary.duration, failures, summary.errors.status))
end
