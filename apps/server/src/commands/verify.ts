import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeSync } from 'node:fs';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { collections } from '@petstore/core';
import { type TableReport, verifiedTables, verifyFolder } from '@petstore/embedded-store';
import { CommandError } from './commandError.ts';
import type { Configuration } from '../configuration/configuration.ts';
import { formatCount, formatRecordCount, formatNumber } from './progress.ts';

/** A line of JSON that the reader process prints. */
type ReaderLine =
  | { readonly type: 'progress'; readonly table: string; readonly last?: string }
  | ({ readonly type: 'table' } & TableReport);

/**
 * Verifies all data in a data folder, which may be in use. A child process reads it, because LMDB aborts the process on a
 * damaged page. Another child process then continues with the next table.
 * @returns the text to print if the data is intact
 * @throws {CommandError} with one line per problem
 */
export async function runVerify(
  folder: string | undefined,
  { DATA_DIR, MONGODB_URI }: Pick<Configuration, 'DATA_DIR' | 'MONGODB_URI'>,
): Promise<string> {
  if (folder === undefined && MONGODB_URI !== undefined) {
    throw new CommandError(
      'verify reads a data folder, but MONGODB_URI is set. To verify the database, copy it to a new folder, which compares both: copy --from mongodb://… --to FOLDER. To verify a folder, name it: verify FOLDER.',
    );
  }
  const dataDir = resolve(folder ?? DATA_DIR);
  const startedAt = performance.now();
  const reports: TableReport[] = [];
  for (let rest: readonly string[] = verifiedTables(collections); rest.length > 0;) {
    const tableReports = await readTables(dataDir, rest);
    reports.push(...tableReports);
    rest = rest.slice(tableReports.length);
  }
  const problems = reports.flatMap(({ table, errors, errorCount }) => [
    ...errors.map((problem) => `  ${table}: ${problem}.`),
    ...(errorCount > errors.length ? [`  ${table}: ${formatNumber(errorCount - errors.length)} more.`] : []),
  ]);
  if (problems.length > 0) {
    const summary = reports.some(({ isDamaged }) => isDamaged)
      ? `The data in ${dataDir} is damaged. Restore it from a backup.`
      : `The data in ${dataDir} is intact, but this version cannot read all of it. Start the version that stored it.`;
    throw new CommandError([summary, ...problems].join('\n'));
  }
  const entries = new Map(reports.map((report) => [report.table, report.entries]));
  const records = collections.map((each) => formatRecordCount(entries.get(each.name) ?? 0, each));
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
  return `The data in ${dataDir} is intact: ${records.join(', ')}, ${formatCount(entries.get('keys') ?? 0, 'API key')} and ${formatCount(entries.get('reservations') ?? 0, 'idempotency key')}, read in ${seconds} s.`;
}

/** @returns the reports of the tables, up to and including one that ended the process */
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
  let reading: Extract<ReaderLine, { type: 'progress' }> | undefined;
  for await (const text of createInterface({ input: child.stdout })) {
    // The writer is this program, of the same version.
    const line: ReaderLine = JSON.parse(text);
    if (line.type === 'progress') reading = line;
    else {
      reports.push(line);
      reading = undefined;
    }
  }
  await closed;
  if (child.exitCode === 0) return reports;
  const lastLine = stderr.trim().split('\n').at(-1) ?? '';
  // If it cannot open the folder, the child process prints the reason, unless LMDB aborted it.
  if (reading === undefined && child.exitCode !== null) throw new CommandError(stderr.trim());
  if (reading === undefined) {
    throw new CommandError(
      `The data in ${dataDir} is damaged. Restore it from a backup.\n  Opening it crashes LMDB (${child.signalCode}: ${lastLine}).`,
    );
  }
  const { table, last } = reading;
  const where = last === undefined ? 'from its first entries on' : `beyond ${last}`;
  const how = child.signalCode ?? `code ${child.exitCode}`;
  const problem = `reading it ${where} crashes LMDB (${how}${lastLine === '' ? '' : `: ${lastLine}`})`;
  return [...reports, { table, entries: 0, errors: [problem], errorCount: 1, isDamaged: true }];
}

/** Reads tables. Runs in the child process of `verify`. */
export async function runReadTables(dataDir: string, tables: readonly string[]): Promise<void> {
  // Synchronous, so that the parent knows how far an aborted process came.
  const printLine = (line: ReaderLine) => writeSync(1, `${JSON.stringify(line)}\n`);
  await verifyFolder({
    dataDir,
    tables: verifiedTables(collections).filter((table) => tables.includes(table)),
    onProgress: (table, last) => printLine({ type: 'progress', table, ...(last !== undefined && { last }) }),
    onTable: (report) => printLine({ type: 'table', ...report }),
    collections,
  });
}
