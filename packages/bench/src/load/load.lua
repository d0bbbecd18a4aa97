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

local sessions = os.getenv("LOAD_SESSIONS")
if sessions then
  local before, after = wrk.body:match('^(.-"id":)1(.*)$')
  local hasSession = wrk.headers["mcp-session-id"] ~= nil
  local id = 0
  request = function()
    id = id + 1
    if hasSession then wrk.headers["mcp-session-id"] = "session-" .. id % sessions end
    return wrk.format(nil, nil, nil, before .. id .. after)
  end
end

done = function(summary, latency)
  local failures = summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.timeout
  io.write(string.format('{"requests":%d,"microseconds":%d,"failures":%d,"errors":%d,"p50":%d,"p99":%d}\n',
    summary.requests, summary.duration, failures, summary.errors.status,
    latency:percentile(50), latency:percentile(99)))
end
