import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';

const version = '1.72.1';
/** Subresource Integrity (SRI) of the package's file, as npm's registry publishes it. */
const integrity =
  'sha512-XpEJ0rfc/cXbCrR+iC4kK0o/WwX2dTtGQbT049OlPKAHD6IMIFdTeGz2r+M27P2EDWKyUITRm/NzlP8z2pw/Ow==';
/** Options of the npm command that runs this one, such as `npm publish --dry-run`, which npm passes on as variables. */
const inheritedOptions = /^npm_config_(?:dry_run|json|pack_destination|workspaces?)$/i;
const script = 'package/dist/browser/standalone.js';

const cache = fileURLToPath(new URL('../../node_modules/.cache/', import.meta.url));
const cached = join(cache, `scalar-${version}.js`);

/**
 * Fetches Scalar's browser bundle with `npm pack`, once per clone, from the registry that npm is configured for.
 * `@scalar/api-reference` is no dependency: this one file of it would come with 238 other packages and 256 MB.
 * @returns the path of the file
 * @throws {Error} if npm cannot fetch the package, or if its hash is another
 */
export async function fetchScalar(): Promise<string> {
  if ((await stat(cached).catch(() => undefined))?.isFile()) return cached;
  await mkdir(cache, { recursive: true });
  const folder = await mkdtemp(join(tmpdir(), 'scalar-'));
  try {
    const name = `@scalar/api-reference@${version}`;
    const args = ['pack', name, '--prefer-offline', '--silent', '--pack-destination', folder];
    const env = Object.fromEntries(
      Object.entries(process.env).filter(([key]) => !inheritedOptions.test(key)),
    );
    const { stdout } = await promisify(execFile)('npm', args, { env }).catch((cause: unknown) => {
      throw new Error(`The docs page needs ${name}, which npm could not fetch from its registry.`, { cause });
    });
    const packed = await readFile(join(folder, stdout.trim()));
    const hash = `sha512-${createHash('sha512').update(packed).digest('base64')}`;
    if (hash !== integrity) throw new Error(`${name} has the hash ${hash}, expected ${integrity}.`);
    // Several processes may write it at once: each renames a complete file.
    const complete = join(cache, `scalar-${process.pid}.tmp`);
    await writeFile(complete, fileOf(gunzipSync(packed), script));
    await rename(complete, cached);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  return cached;
}

/** Returns the content of a file of a tar archive (POSIX.1-1988 ustar: headers and contents in blocks of 512 bytes). */
function fileOf(archive: Buffer, path: string): Buffer {
  const text = (from: number, length: number) =>
    archive.toString('latin1', from, from + length).split('\0', 1)[0];
  for (let at = 0; at < archive.length;) {
    const size = Number.parseInt(text(at + 124, 12) ?? '', 8) || 0;
    const start = at + 512;
    if (text(at, 100) === path) return archive.subarray(start, start + size);
    at = start + Math.ceil(size / 512) * 512;
  }
  throw new Error(`The package has no ${path}.`);
}
