/*
 * The scripts of the event log in Redis. A channel has a hash (its epoch and its last sequence number) and a stream, whose
 * entries have the ids `start-sequence`. `start` is the time at which the epoch began, in milliseconds, so that the ids of a
 * later epoch are greater, and a blocked XREAD returns its events too.
 */

/**
 * Reads a channel, and begins a new epoch if there is none, or if another server has answered before: after a restart or a
 * failover, acknowledged events may be missing. INFO takes 13 µs (Redis 7.0), and nothing else says so within a script.
 */
const openChannel = `
local channel, stream = KEYS[1], KEYS[2]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local server = string.match(redis.call('INFO', 'server'), 'run_id:(%w+)')
local found = redis.call('HMGET', channel, 'server', 'epoch', 'start', 'last')
local epoch, start, last = found[2], tonumber(found[3] or 0), tonumber(found[4] or 0)
if found[1] ~= server then
  epoch, start, last = ARGV[1], math.max(now, start + 1), 0
  redis.call('DEL', stream)
  redis.call('HSET', channel, 'server', server, 'epoch', epoch, 'start', start, 'last', last)
end
local function idOf(sequence) return string.format('%.0f-%.0f', start, sequence) end
`;

/**
 * Appends an event. KEYS: channel, stream, writer. ARGV: epoch of a new channel, memory of the channel in ms, retention in ms,
 * retention in events, number of the append in its process, event. Returns the id.
 *
 * A client of Sentinel sends a command again if its connection was lost. The key of the writer knows the last append of the
 * process: the same one is not stored twice. Nothing is returned for an earlier one.
 */
export const appendScript = `${openChannel}
local number = tonumber(ARGV[5])
local lastNumber, lastId = string.match(redis.call('GET', KEYS[3]) or '0 ', '(%d+) (.*)')
if number == tonumber(lastNumber) then return lastId end
if number < tonumber(lastNumber) then return false end
last = last + 1
redis.call('HSET', channel, 'last', last)
redis.call('XADD', stream, 'MAXLEN', '=', ARGV[4], idOf(last), 'at', now, 'event', ARGV[6])
local function isExpired(sequence)
  local entry = redis.call('XRANGE', stream, idOf(sequence), idOf(sequence))[1]
  return not entry or tonumber(entry[2][2]) <= now - ARGV[3]
end
local expired = last - redis.call('XLEN', stream) + 1
if expired < last and isExpired(expired) then
  local step = 1
  while expired + step < last and isExpired(expired + step) do
    expired, step = expired + step, step * 2
  end
  local kept = math.min(expired + step, last)
  while kept - expired > 1 do
    local middle = math.floor((expired + kept) / 2)
    if isExpired(middle) then expired = middle else kept = middle end
  end
  redis.call('XTRIM', stream, 'MINID', '=', idOf(kept))
end
redis.call('PEXPIRE', stream, ARGV[3])
redis.call('PEXPIRE', channel, ARGV[2])
local id = epoch .. '-' .. string.format('%.0f', last)
redis.call('SET', KEYS[3], ARGV[5] .. ' ' .. id, 'PX', 30000)
return id`;

/**
 * Reads about 100 events, and at most 1 MB and one event. KEYS: channel, stream. ARGV: epoch of a new channel, memory of the
 * channel in ms, sequence number after which to read, or -1 for no events. Returns the epoch, its start, the last sequence
 * number, then the sequence number and the text of each event.
 */
export const pageScript = `${openChannel}
if redis.call('PTTL', channel) < tonumber(ARGV[2]) then redis.call('PEXPIRE', channel, ARGV[2]) end
local reply = { epoch, string.format('%.0f', start), last }
local after = tonumber(ARGV[3])
if after < 0 then return reply end
local bytes = 0
for _, entry in ipairs(redis.call('XRANGE', stream, idOf(after + 1), '+', 'COUNT', 100)) do
  if bytes > 1000000 then break end
  bytes = bytes + #entry[2][4]
  reply[#reply + 1] = string.match(entry[1], '-(%d+)')
  reply[#reply + 1] = entry[2][4]
end
return reply`;

/** Ends the XREAD of a process, which reads this stream too. */
export const wakeScript = `
redis.call('XADD', KEYS[1], 'MAXLEN', '=', 1, '*', 'wake', '')
redis.call('PEXPIRE', KEYS[1], 60000)`;
