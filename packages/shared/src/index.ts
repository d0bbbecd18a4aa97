export {
  eventChannel,
  type EventChannel,
  type EventChannelOptions,
  type EventSchema,
  type SubscribeOptions,
} from './channels/eventChannel.ts';
export {
  beginning,
  channelMemoryMs,
  type EventLog,
  type LogItem,
  type Retention,
} from './events/eventLog.ts';
export { type EventMetric, measuredEventLog, type MeasuredEventLog } from './events/measuredEventLog.ts';
export { memoryEventLog } from './events/memory.ts';
export { resumable, runErrors } from './runs/resumable.ts';
export type { JoinOptions, Resumable, ResumableOptions } from './runs/resumableOptions.ts';
export { FolderError } from './lmdb/sharedFolder.ts';
