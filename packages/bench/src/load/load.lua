-- What wrk sends, from the environment; and what it counted, as one line of JSON.
wrk.method = os.getenv("LOAD_METHOD")
local body = os.getenv("LOAD_BODY_FILE")
if body then
  local file = assert(io.open(body, "rb"))
  wrk.body = file:read("*a")
  file:close()
end
for line in os.getenv("LOAD_HEADERS"):gmatch("[^\n]+") do
  local name, value = line:match("^(.-): (.*)$")
  wrk.headers[name] = value
end

local seriesFile = os.getenv("LOAD_SERIES_FILE")
if seriesFile then
  local file = assert(io.open(seriesFile, "rb"))
  local series = {}
  for each in (file:read("*a") .. "\0"):gmatch("(%Z*)%z") do series[#series + 1] = each end
  file:close()
  local sent = 0
  request = function()
    sent = sent + 1
    return series[(sent - 1) % #series + 1]
  end
end

done = function(summary)
  local failures = summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.timeout
  io.write(string.format('{"requests":%d,"microseconds":%d,"failures":%d,"errors":%d}\n',
    summary.requests, summary.duration, failures, summary.errors.status))
end
