import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { TypegenError } from '../typegenError.ts';
import type { ReadOutputs } from './describeOutputs.ts';
import type { RouterLocation } from './routerTypes.ts';

/** What the thread sends: what it has read, or the message of a `TypegenError`. */
export type Result = ReadOutputs | { readonly error: string };

const thread = new URL(`outputsWorker${import.meta.url.slice(-3)}`, import.meta.url);

/**
 * Reads JSON Schemas of what the procedures of a router return, from the types of its file. Nothing of it runs. It takes about as
 * long as a type check, in a thread of its own, which the compiler blocks.
 * @throws {TypegenError} if the file exports no router, or the compiler fails
 */
export async function readOutputs(location: RouterLocation): Promise<ReadOutputs> {
  const worker = new Worker(thread, {
    workerData: location,
    // With the default of 48, a fifth of the memory beside the compiler is garbage.
    resourceLimits: { maxYoungGenerationSizeMb: 4 },
  });
  const [result] = (await once(worker, 'message').catch(({ message }: Error) => {
    throw new TypegenError(`The types of ${location.file} cannot be read: ${message}`);
  })) as [Result];
  await worker.terminate();
  if ('error' in result) throw new TypegenError(result.error);
  return result;
}
