import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** Creates a temporary folder. @param atEnd registers its removal. Default: `onTestFinished` */
export async function temporaryFolder(
  atEnd: (end: () => Promise<void>) => void = onTestFinished,
): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'petstore-'));
  atEnd(() => rm(folder, { recursive: true, force: true }));
  return folder;
}
