// The thread that `readOutputs` starts.
import { parentPort, workerData } from 'node:worker_threads';
import { TypegenError } from '../typegenError.ts';
import { describeOutputs } from './describeOutputs.ts';
import type { Result } from './readOutputs.ts';
import type { RouterLocation } from './routerTypes.ts';

function read(location: RouterLocation): Result {
  try {
    return describeOutputs(location);
  } catch (error) {
    if (error instanceof TypegenError) return { error: error.message };
    throw error;
  }
}

// Until it is terminated, since the end of a thread ends the compiler by a signal, on which TypeScript 7.0 may print a line.
parentPort?.ref();
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- of a window
parentPort?.postMessage(read(workerData as RouterLocation));
