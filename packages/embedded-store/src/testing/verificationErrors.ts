import type { CollectionDefinition } from '@petstore/core/store';
import { verifiedTables, verifyFolder } from '../index.ts';

/** Verifies a data folder. @returns the errors of each table that has some */
export async function verificationErrors(
  dataDir: string,
  collections: readonly CollectionDefinition[],
): Promise<Map<string, readonly string[]>> {
  const errors = new Map<string, readonly string[]>();
  await verifyFolder({
    dataDir,
    tables: verifiedTables(collections),
    collections,
    onProgress: () => {},
    onTable: (report) => {
      if (report.errorCount > 0) errors.set(report.table, report.errors);
    },
  });
  return errors;
}
