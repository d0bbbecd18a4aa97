import { randomUUID } from 'node:crypto';
import { openAsBlob } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Spool } from '../../http/upload.ts';

const paths = new WeakMap<Blob, string>();

/**
 * Keeps uploaded files in a directory, which must exist, until their calls have ended: the option `spool` of
 * `createGateway`. Only the user of the process may read them.
 */
export function temporaryFiles(directory: string = tmpdir()): Spool {
  return async ({ name, stream, type }) => {
    const path = join(directory, `upload-${randomUUID()}`);
    const remove = () => rm(path, { force: true });
    try {
      await writeFile(path, stream(), { flag: 'wx', mode: 0o600 });
      const file = new File([await openAsBlob(path)], name, { type });
      paths.set(file, path);
      return { file, remove };
    } catch (error) {
      await remove();
      throw error;
    }
  };
}

/** Where `temporaryFiles` keeps a file, such as to move it; `undefined` for another file. */
export const temporaryPath = (file: Blob): string | undefined => paths.get(file);
