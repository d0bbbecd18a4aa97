import { randomUUID } from 'node:crypto';
import { openAsBlob } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Spool } from '../../http/upload.ts';

const pathsByFile = new WeakMap<Blob, string>();

/**
 * Stores uploaded files in a directory until their calls have ended, for the option `spool` of `createGateway`. Only
 * the user of the process can read the files.
 * @param directory must exist. Default: the temporary directory of the system
 */
export function temporaryFiles(directory: string = tmpdir()): Spool {
  return async ({ name, stream, type }) => {
    const path = join(directory, `upload-${randomUUID()}`);
    const remove = () => rm(path, { force: true });
    try {
      await writeFile(path, stream(), { flag: 'wx', mode: 0o600 });
      const file = new File([await openAsBlob(path)], name, { type });
      pathsByFile.set(file, path);
      return { file, remove };
    } catch (error) {
      await remove();
      throw error;
    }
  };
}

/** Returns the path of a file that `temporaryFiles` stored, for example to move it; `undefined` for any other file. */
export const temporaryPath = (file: Blob): string | undefined => pathsByFile.get(file);
