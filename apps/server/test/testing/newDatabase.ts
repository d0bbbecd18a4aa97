import { testDatabase } from '@petstore/testing/mongodb';
import { onTestFinished } from 'vitest';
import { newFolder } from './newFolder.ts';
import type { RunOptions } from './petStoreProcess.ts';

/**
 * Creates a database for one test, and starts processes on it. Both are removed when the test ends.
 * @param atEnd registers the cleanup. Default: `onTestFinished`
 */
export async function newDatabase(atEnd: (end: () => Promise<void>) => void = onTestFinished) {
  const { uri, database, drop } = testDatabase();
  // Registered first, so it runs last: after the folder has ended the processes.
  atEnd(drop);
  const folder = await newFolder(atEnd);
  const withDatabase = (options: RunOptions = {}): RunOptions => ({
    ...options,
    env: { MONGODB_URI: uri, MONGODB_DB: database, ...options.env },
  });
  return {
    uri,
    database,
    serve: (options?: RunOptions) => folder.serve(withDatabase(options)),
    command: (args: readonly string[], options?: RunOptions) => folder.command(args, withDatabase(options)),
  };
}
