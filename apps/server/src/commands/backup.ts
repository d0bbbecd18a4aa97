import { backupFolder } from '@petstore/embedded-store';
import { CommandError } from './commandError.ts';
import type { Configuration } from '../configuration/configuration.ts';
import { formatCount, formatRecordCount, formatNumber } from './progress.ts';

/** Copies the data folder to another folder. @returns the text to print */
export async function runBackup(
  to: string,
  { DATA_DIR, MONGODB_URI }: Pick<Configuration, 'DATA_DIR' | 'MONGODB_URI'>,
): Promise<string> {
  if (MONGODB_URI !== undefined) {
    throw new CommandError(
      'backup copies a data folder, but MONGODB_URI is set. Back up the database with its own tools, or use copy.',
    );
  }
  const startedAt = performance.now();
  const { collections, keys, bytes } = await backupFolder({ dataDir: DATA_DIR, to });
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
  const records = collections.map((each) => formatRecordCount(each.records, each)).join(', ');
  return `Backed up ${records} and ${formatCount(keys, 'API key')} (${formatNumber(bytes)} bytes) to ${to} in ${seconds} s.`;
}
