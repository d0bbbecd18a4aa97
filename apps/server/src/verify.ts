import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeSync } from 'node:fs';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { collections } from '@petstore/core';
import { type TableReport, verifiedTables, verifyFolder } from '@petstore/core/store/embedded';
import { CommandError } from './commandError.ts';
import type { Configuration } from './configuration.ts';
import { count, countOf, number } from './progress.ts';

/** What a process that reads tables prints, a line of JSON each. */
type Line =
  | { readonly type: 'progress'; readonly table: string; readonly last?: string }
  | ({ readonly type: 'table' } & TableReport);

/**
 * Reads everything in a data folder, whether or not processes use it. A process of its own does, since LMDB ends it where
 * a page is damaged; another one goes on with the next table.
 * @returns what is printed where everything is as it was stored
 * @throws {CommandError} that names what is not
 */
export async function runVerify(
  folder: string | undefined,
  { DATA_DIR, MONGODB_URI }: Pick<Configuration, 'DATA_DIR' | 'MONGODB_URI'>,
): Promise<string> {
  if (folder === undefined && MONGODB_URI !== undefined) {
    throw new CommandError('verify reads a data folder, and MONGODB_URI is set: name the folder.');
  }
  const dataDir = resolve(folder ?? DATA_DIR);
  const since = performance.now();
  const reports: TableReport[] = [];
  for (let rest: readonly string[] = verifiedTables(); rest.length > 0;) {
    const found = await readTables(dataDir, rest);
    reports.push(...found);
    rest = rest.slice(found.length);
  }
  const faults = reports.flatMap(({ table, errors, errorCount }) => [
    ...errors.map((fault) => `  ${table}: ${fault}.`),
    ...(errorCount > errors.length ? [`  ${table}: ${number(errorCount - errors.length)} more.`] : []),
  ]);
  if (faults.length > 0) {
    throw new CommandError(
      [`The data in ${dataDir} is damaged. Restore it from a backup.`, ...faults].join('\n'),
    );
  }
  const entries = new Map(reports.map((report) => [report.table, report.entries]));
  const records = collections.map((each) => countOf(entries.get(each.name) ?? 0, each));
  const seconds = ((performance.now() - since) / 1_000).toFixed(1);
  return `The data in ${dataDir} is whole: ${records.join(', ')}, ${count(entries.get('keys') ?? 0, 'API key')} and ${count(entries.get('reservations') ?? 0, 'idempotency key')}, read in ${seconds} s.`;
}

/** @returns what is in those tables, or in the first of them, up to one that ended the process */
async function readTables(dataDir: string, tables: readonly string[]): Promise<TableReport[]> {
  const child = spawn(
    process.execPath,
    [...process.execArgv, process.argv[1] ?? '', 'read-tables', dataDir, ...tables],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  );
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const closed = once(child, 'close');
  const reports: TableReport[] = [];
  let reading: Extract<Line, { type: 'progress' }> | undefined;
  for await (const text of createInterface({ input: child.stdout })) {
    // Our own file wrote it, of the same version.
    const line: Line = JSON.parse(text);
    if (line.type === 'progress') reading = line;
    else {
      reports.push(line);
      reading = undefined;
    }
  }
  await closed;
  if (child.exitCode === 0) return reports;
  const lastLine = stderr.trim().split('\n').at(-1) ?? '';
  // Why it cannot open the folder it says by itself, unless that ended it.
  if (reading === undefined && child.exitCode !== null) throw new CommandError(stderr.trim());
  if (reading === undefined) {
    throw new CommandError(
      `The data in ${dataDir} is damaged. Restore it from a backup.\n  LMDB cannot open it, and ends the process that tries (${child.signalCode}: ${lastLine}).`,
    );
  }
  const { table, last } = reading;
  const where = last === undefined ? 'from its first entries on' : `beyond ${last}`;
  const how = child.signalCode ?? `code ${child.exitCode}`;
  const fault = `LMDB cannot read it ${where}, and ends the process that tries (${how}${lastLine === '' ? '' : `: ${lastLine}`})`;
  return [...reports, { table, entries: 0, errors: [fault], errorCount: 1 }];
}

/** Reads some tables, as the process that `verify` starts. */
export async function runReadTables(dataDir: string, tables: readonly string[]): Promise<void> {
  // At once, so that it is known where this process ended.
  const print = (line: Line) => writeSync(1, `${JSON.stringify(line)}\n`);
  await verifyFolder({
    dataDir,
    tables: verifiedTables().filter((table) => tables.includes(table)),
    onProgress: (table, last) => print({ type: 'progress', table, ...(last !== undefined && { last }) }),
    onTable: (report) => print({ type: 'table', ...report }),
  });
}
