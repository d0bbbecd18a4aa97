import { onTestFinished, vi } from 'vitest';
import { Random } from '../../../random.ts';
import { SimulatedProcess } from '../../simulatedProcess.ts';
import * as fs from '../fs.ts';
import * as lmdb from '../lmdb.ts';
import { mount, unmountAll } from '../mounts.ts';
import { SimulatedDisk } from '../simulatedDisk.ts';

// Other files of this process have imported, or import, the modules with the real disk.
vi.resetModules();
vi.doMock('lmdb', () => lmdb);
vi.doMock('node:fs', () => fs);
const { folderState } = await import('trpc-gateway-shared/state/folder');
const { folderEventLog } = await import('trpc-gateway-shared/events/folder');
vi.doUnmock('lmdb');
vi.doUnmock('node:fs');
vi.resetModules();

/** Returns a machine for a test: its disk, `start`, which starts a process of it, and what processes open. */
export function openMachine(seed = Number(process.env['TEST_SEED'])) {
  const disk = new SimulatedDisk(new Random(seed));
  onTestFinished(unmountAll);
  let count = 0;
  const start = (): SimulatedProcess => {
    const started = new SimulatedProcess(`p${(count += 1)}`);
    mount(started, disk);
    return started;
  };
  return { disk, start, folderState, folderEventLog };
}
