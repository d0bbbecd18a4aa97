import { testDatabase } from '@petstore/testing/mongodb';
import { onTestFinished } from 'vitest';
import { newFolder, type Folder } from './newFolder.ts';
import type { RunOptions } from './petStoreProcess.ts';

/** A database for one test, and the processes that the test starts on it. Both are removed when the test ends. */
export interface Database extends Pick<Folder, 'serve' | 'command'> {
  readonly uri: string;
  readonly database: string;
}

/** @param atEnd registers the cleanup. Default: `onTestFinished` */
export async function newDatabase(
  atEnd: (end: () => Promise<void>) => void = onTestFinished,
): Promise<Database> {
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
    serve: (options) => folder.serve(withDatabase(options)),
    command: (args, options) => folder.command(args, withDatabase(options)),
  };
}
