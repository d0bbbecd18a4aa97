export {
  eventChannel,
  type EventChannel,
  type EventChannelOptions,
  type EventSchema,
  type SubscribeOptions,
} from './eventChannel.ts';
export { beginning, channelMemoryMs, type EventLog, type LogItem, type Retention } from './eventLog.ts';
export { measuredEventLog, type MeasuredEventLog } from './measuredEventLog.ts';
export { memoryEventLog } from './memory.ts';
export { resumable, runErrors } from './resumable.ts';
export type { JoinOptions, Resumable, ResumableOptions } from './resumableOptions.ts';
