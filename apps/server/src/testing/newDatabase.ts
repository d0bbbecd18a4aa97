import { testDatabase } from '@petstore/testing/mongodb';
import { onTestFinished } from 'vitest';
import { newFolder, type Folder } from './newFolder.ts';
import type { RunOptions } from './petStoreProcess.ts';

/** A database of one test, and the processes that it starts there. Neither outlives it. */
export interface Database extends Pick<Folder, 'start' | 'serve' | 'command'> {
  readonly uri: string;
  /** Its name. */
  readonly database: string;
}

export async function newDatabase(): Promise<Database> {
  const { uri, database, drop } = testDatabase();
  // Last: what a test asks for first to be done at its end is done after what the folder asks for, its processes' end.
  onTestFinished(drop);
  const folder = await newFolder();
  const there = (options: RunOptions = {}): RunOptions => ({
    ...options,
    env: { MONGODB_URI: uri, MONGODB_DB: database, ...options.env },
  });
  return {
    uri,
    database,
    start: (options) => folder.start(there(options)),
    serve: (options) => folder.serve(there(options)),
    command: (args, options) => folder.command(args, there(options)),
  };
}
