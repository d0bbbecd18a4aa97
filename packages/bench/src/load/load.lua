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

-- Several targets are asked for in turn. Their texts are made before the load begins.
local targets = os.getenv("LOAD_TARGETS")
if targets then
  local requests, at = {}, 0
  init = function()
    for target in targets:gmatch("[^\n]+") do
      requests[#requests + 1] = wrk.format(nil, target)
    end
  end
  request = function()
    at = at % #requests + 1
    return requests[at]
  end
end

done = function(summary, latency)
  local failures = summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.timeout
  io.write(string.format('{"requests":%d,"microseconds":%d,"failures":%d,"errors":%d,"p50":%d,"p99":%d}\n',
    summary.requests, summary.duration, failures, summary.errors.status,
    latency:percentile(50), latency:percentile(99)))
end
