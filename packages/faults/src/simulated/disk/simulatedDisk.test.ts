import { onTestFinished, vi } from 'vitest';
import { describeEventLog } from '../../../../shared/src/events/testing/eventLogContract.ts';
import { describeState } from '../../../../shared/src/state/testing/stateContract.ts';
import { Random } from '@petstore/testing/random';
import { runIn, SimulatedProcess } from '../simulatedProcess.ts';
import * as fs from './fs.ts';
import * as lmdb from './lmdb.ts';
import { mount, unmountAll } from './mounts.ts';
import { SimulatedDisk } from './simulatedDisk.ts';

// Other files of this process have imported, or import, the modules with the real disk.
vi.resetModules();
vi.doMock('lmdb', () => lmdb);
vi.doMock('node:fs', () => fs);
const { folderState } = await import('trpc-gateway-shared/state/folder');
const { folderEventLog } = await import('trpc-gateway-shared/events/folder');
vi.doUnmock('lmdb');
vi.doUnmock('node:fs');
vi.resetModules();

/** Returns a function that opens the folder of a machine in a further process of it, and closes it at the end of the test. */
function openMachine<T extends { close(): unknown }>(open: (options: { readonly path: string }) => T) {
  const disk = new SimulatedDisk(new Random(Number(process.env['TEST_SEED'])));
  onTestFinished(unmountAll);
  let count = 0;
  return async (): Promise<T> => {
    const started = new SimulatedProcess(`p${(count += 1)}`);
    mount(started, disk);
    const opened = runIn(started, () => open({ path: `/${started.name}/data` }));
    onTestFinished(async () => void (await opened.close()));
    return opened;
  };
}

describeState('in a folder of a simulated disk', async () => {
  const reopen = openMachine(folderState);
  return { state: await reopen(), reopen };
});

describeEventLog('in a folder of a simulated disk', async () => {
  const reopen = openMachine(folderEventLog);
  return { log: await reopen(), reopen };
});
