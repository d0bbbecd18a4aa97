/*
 * The scripts of the event log in Redis. A channel has a hash (its epoch and its last sequence number) and a stream, whose
 * entries have the ids `start-sequence`. `start` is the time at which the epoch began, in milliseconds, since a stream accepts
 * only ids that are greater than all before.
 */

/** How many of the newest changes are kept for processes that wait for them; at least. */
export const changesKept = 1000;

/**
 * Opens a channel, and begins a new epoch if there is none, or if another server has answered before: after a restart or a
 * failover, acknowledged events may be missing. INFO takes 13 µs (Redis 7.0), and nothing else says so within a script.
 */
const openChannel = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local server = string.match(redis.call('INFO', 'server'), 'run_id:(%w+)')
local function idOf(start, sequence) return string.format('%.0f-%.0f', start, sequence) end
local function open(channel, stream, newEpoch)
  local found = redis.call('HMGET', channel, 'server', 'epoch', 'start', 'last')
  local start = tonumber(found[3] or 0)
  if found[1] == server then return found[2], start, tonumber(found[4]) end
  start = math.max(now, start + 1)
  redis.call('DEL', stream)
  redis.call('HSET', channel, 'server', server, 'epoch', newEpoch, 'start', start, 'last', 0)
  return newEpoch, start, 0
end
`;

/**
 * Appends an event. KEYS: channel, stream, changes, writer. ARGV: epoch of a new channel, memory of the channel in ms, retention
 * in ms, retention in events, number of the append in its process, event, name of the channel among the changes. Returns the
 * id.
 *
 * A client of Sentinel sends a command again if its connection was lost. The key of the writer knows the last append of the
 * process: the same one is not stored twice. Nothing is returned for an earlier one.
 */
export const appendScript = `${openChannel}
local number = tonumber(ARGV[5])
local lastNumber, lastId = string.match(redis.call('GET', KEYS[4]) or '0 ', '(%d+) (.*)')
if number == tonumber(lastNumber) then return lastId end
if number < tonumber(lastNumber) then return false end
local channel, stream = KEYS[1], KEYS[2]
local epoch, start, last = open(channel, stream, ARGV[1])
last = last + 1
redis.call('HSET', channel, 'last', last)
redis.call('XADD', stream, 'MAXLEN', '=', ARGV[4], idOf(start, last), 'at', now, 'event', ARGV[6])
while true do
  local oldest = redis.call('XRANGE', stream, '-', '+', 'COUNT', 1)[1]
  if tonumber(oldest[2][2]) > now - ARGV[3] then break end
  redis.call('XDEL', stream, oldest[1])
end
redis.call('PEXPIRE', stream, ARGV[3])
redis.call('PEXPIRE', channel, ARGV[2])
redis.call('XADD', KEYS[3], 'MAXLEN', '~', ${changesKept}, '*', 'channel', ARGV[7])
local id = epoch .. '-' .. string.format('%.0f', last)
redis.call('SET', KEYS[4], ARGV[5] .. ' ' .. id, 'PX', 30000)
return id`;

/**
 * Reads pages of channels: about 100 events each, and together at most 1 MB and one event of each. KEYS: channel and stream of
 * each page. ARGV: memory of a channel in ms, then the sequence number after which to read and the epoch of a new channel for
 * each page. Returns for each page the epoch, the last sequence number, then the sequence number and the text of each event.
 */
export const pagesScript = `${openChannel}
local pages, bytes = {}, 0
for at = 1, #KEYS, 2 do
  local channel, stream, after = KEYS[at], KEYS[at + 1], tonumber(ARGV[at + 1])
  local epoch, start, last = open(channel, stream, ARGV[at + 2])
  if redis.call('PTTL', channel) < tonumber(ARGV[1]) then redis.call('PEXPIRE', channel, ARGV[1]) end
  local page = { epoch, last }
  if after < last then
    for _, entry in ipairs(redis.call('XRANGE', stream, idOf(start, after + 1), '+', 'COUNT', 100)) do
      page[#page + 1] = string.match(entry[1], '-(%d+)')
      page[#page + 1] = entry[2][4]
      bytes = bytes + #entry[2][4]
      if bytes > 1000000 then break end
    end
  end
  pages[#pages + 1] = page
end
return pages`;
