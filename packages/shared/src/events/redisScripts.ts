/*
 * The scripts of the event log in Redis. A channel has a hash and a stream, whose entries have the sequence numbers of the
 * events as ids. `start` is the time at which the channel began, in milliseconds. Both are written with the first event: readers
 * leave nothing in a channel without events. Their position is the time, in an epoch of all such channels.
 */

/** How many of the newest changes are kept for processes that wait for them; at least. */
export const changesKept = 1000;

/**
 * Finds a channel, unless another server has written it: after a restart or a failover, acknowledged events may be missing.
 * Only INFO says so within a script (13 µs, Redis 7.0). The epoch of channels without events is of the key of the log, which
 * `FLUSHALL` removes with channels, and of the number of evicted keys: a reader that joins, misses an event, and returns
 * after its channel was lost, must not have the same epoch.
 */
const findChannel = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local server = string.match(redis.call('INFO', 'server'), 'run_id:(%w+)')
local function find(channel)
  local found = redis.call('HMGET', channel, 'server', 'epoch', 'last', 'bytes', 'emptyEpoch', 'start')
  if found[1] ~= server then return end
  return { epoch = found[2], last = found[3], bytes = found[4], emptyEpoch = found[5], start = found[6] }
end
local function emptyEpoch(log, newEpoch)
  redis.call('SET', log, newEpoch, 'NX')
  local evicted = string.match(redis.call('INFO', 'stats'), 'evicted_keys:(%d+)')
  return string.sub(redis.sha1hex(server .. redis.call('GET', log) .. evicted), 1, 12)
end
`;

/**
 * Appends an event. KEYS: log, channel, stream, changes, writer. ARGV: epoch of a new channel, memory of the channel in ms,
 * retention in ms, in events, and in bytes, number of the append in its process, event, name of the channel among the changes.
 * Returns the id.
 *
 * A client of Sentinel sends a command again if its connection was lost. The key of the writer knows the last append of the
 * process: the same one is not stored twice. Nothing is returned for an earlier one.
 */
export const appendScript = `${findChannel}
local log, channel, stream, changes, writer = unpack(KEYS)
local newEpoch, memoryMs, keepMs, keepEvents, keepBytes, number, event, name = unpack(ARGV)
local lastNumber, lastId = string.match(redis.call('GET', writer) or '0 ', '(%d+) (.*)')
if tonumber(number) == tonumber(lastNumber) then return lastId end
if tonumber(number) < tonumber(lastNumber) then return false end
local found = find(channel)
if not found then
  found = { epoch = newEpoch, last = 0, bytes = 0 }
  redis.call('DEL', stream)
  redis.call('HSET', channel, 'server', server, 'epoch', newEpoch, 'emptyEpoch', emptyEpoch(log, newEpoch), 'start', now)
end
local last = string.format('%.0f', found.last + 1)
local bytes = found.bytes + #event
redis.call('HSET', channel, 'last', last, 'bytes', bytes)
redis.call('XADD', stream, 'MAXLEN', '=', keepEvents, last, 'at', now, 'event', event, 'bytesBefore', found.bytes)
while true do
  local id, fields = unpack(redis.call('XRANGE', stream, '-', '+', 'COUNT', 1)[1])
  local isKept = tonumber(fields[2]) > now - keepMs and tonumber(fields[6]) >= bytes - keepBytes
  if isKept or id == last .. '-0' then break end
  redis.call('XDEL', stream, id)
end
redis.call('PEXPIRE', stream, keepMs)
redis.call('PEXPIRE', channel, memoryMs)
redis.call('XADD', changes, 'MAXLEN', '~', ${changesKept}, '*', 'channel', name)
local id = found.epoch .. '-' .. last
redis.call('SET', writer, number .. ' ' .. id, 'PX', 30000)
return id`;

/**
 * Reads pages of channels: about 100 events each, and together at most 1 MB and one event of each. KEYS: log, then channel and
 * stream of each page. ARGV: memory of a channel in ms, epoch of a new log, then the sequence number after which to read for each
 * page. Returns for each page the epoch of channels without events, then the time for such a channel. For others, it is the time at
 * which the channel began, followed by its epoch, its last sequence number, and the sequence number and the text of each event.
 */
export const pagesScript = `${findChannel}
local log, memoryMs, newEpoch = KEYS[1], tonumber(ARGV[1]), ARGV[2]
local pages, bytes, empty = {}, 0, nil
for at = 2, #KEYS, 2 do
  local channel, stream, after = KEYS[at], KEYS[at + 1], tonumber(ARGV[at / 2 + 2])
  local found = find(channel)
  if found then
    if redis.call('PTTL', channel) < memoryMs then redis.call('PEXPIRE', channel, memoryMs) end
    local page = { found.emptyEpoch, tonumber(found.start), found.epoch, tonumber(found.last) }
    if after < page[4] then
      for _, entry in ipairs(redis.call('XRANGE', stream, string.format('%.0f', after + 1), '+', 'COUNT', 100)) do
        page[#page + 1] = string.match(entry[1], '%d+')
        page[#page + 1] = entry[2][4]
        bytes = bytes + #entry[2][4]
        if bytes > 1000000 then break end
      end
    end
    pages[#pages + 1] = page
  else
    empty = empty or { emptyEpoch(log, newEpoch), now }
    pages[#pages + 1] = empty
  end
end
return pages`;
