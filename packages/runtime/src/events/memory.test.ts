import { onTestFinished } from 'vitest';
import { memoryEventLog } from './memory.ts';
import { describeEventLog } from './testing/eventLogContract.ts';

describeEventLog('in memory', async () => {
  const log = memoryEventLog();
  onTestFinished(() => log.close());
  return { log, reopen: async () => log };
});
