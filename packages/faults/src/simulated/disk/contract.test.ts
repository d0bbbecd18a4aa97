import { onTestFinished } from 'vitest';
import { describeEventLog } from '../../../../shared/src/events/testing/eventLogContract.ts';
import { describeState } from '../../../../shared/src/state/testing/stateContract.ts';
import { openMachine } from './testing/machine.ts';

describeState('in a folder of a simulated disk', async () => {
  const { folderState, start } = openMachine();
  const open = async () => {
    const state = folderState({ path: `/${start().name}/data` });
    onTestFinished(() => state.close());
    return state;
  };
  return { state: await open(), reopen: open };
});

describeEventLog('in a folder of a simulated disk', async () => {
  const { folderEventLog, start } = openMachine();
  const open = async () => {
    const log = folderEventLog({ path: `/${start().name}/data` });
    onTestFinished(() => log.close());
    return log;
  };
  return { log: await open(), reopen: open };
});
