export {
  eventChannel,
  type EventChannel,
  type EventChannelOptions,
  type EventSchema,
  type SubscribeOptions,
} from './eventChannel.ts';
export { beginning, channelMemoryMs, type EventLog, type LogItem, type Retention } from './eventLog.ts';
export { memoryEventLog } from './memory.ts';
export {
  type JoinOptions,
  resumable,
  type Resumable,
  type ResumableOptions,
  runErrors,
} from './resumable.ts';
