// The process that `readOutputs` starts.
import { TypegenError } from '../typegenError.ts';
import { describeOutputs } from './describeOutputs.ts';
import type { Printed } from './readOutputs.ts';
import type { RouterLocation } from './routerTypes.ts';

function read(location: RouterLocation): Printed {
  try {
    return describeOutputs(location);
  } catch (error) {
    if (error instanceof TypegenError) return { error: error.message };
    throw error;
  }
}

process.stdout.write(JSON.stringify(read(JSON.parse(String(process.argv[2])) as RouterLocation)));
