export { endWithError, errorText, StartError, UnclosedStoreError } from './endProcess.ts';
export {
  drainDeadlineMs,
  stopDeadlineMs,
  stopOnSignals,
  type StopOnSignalsOptions,
  type Stoppable,
  type StopOptions,
} from './stopOnSignals.ts';
