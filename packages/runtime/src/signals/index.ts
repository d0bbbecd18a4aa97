export { endWithError, UnclosedStoreError } from './endProcess.ts';
export { errorText } from './errorText.ts';
export { StartError } from './startError.ts';
export {
  drainDeadlineMs,
  stopDeadlineMs,
  stopOnSignals,
  type StopOnSignalsOptions,
  type Stoppable,
  type StopOptions,
} from './stopOnSignals.ts';
