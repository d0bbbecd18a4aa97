import type { CollectionDefinition } from '@petstore/core/store';
import { type TableReport, verifiedTables, verifyFolder } from '../index.ts';

/** Verifies a data folder. @returns the reports of all tables */
export async function reportsOf(
  dataDir: string,
  collections: readonly CollectionDefinition[],
): Promise<readonly TableReport[]> {
  const reports: TableReport[] = [];
  const tables = verifiedTables(collections);
  await verifyFolder({ dataDir, tables, collections, onTable: (report) => reports.push(report) });
  return reports;
}

/** Verifies a data folder. @returns the errors of each table that has some */
export async function verificationErrors(...folder: Parameters<typeof reportsOf>) {
  const damaged = (await reportsOf(...folder)).filter(({ errorCount }) => errorCount > 0);
  return new Map(damaged.map(({ errors, table }) => [table, errors]));
}
