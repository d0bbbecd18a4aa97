export { endWithFault, UnclosedStoreError } from './endProcess.ts';
export { faultText } from './faultText.ts';
export { StartError } from './startError.ts';
export {
  drainDeadlineMs,
  stopDeadlineMs,
  stopOnSignals,
  type StopOnSignalsOptions,
  type Stoppable,
  type StopOptions,
} from './stopOnSignals.ts';
