import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

/** An entry of package-lock.json for a package from a registry. */
export interface LockedPackage {
  /** The installation path, such as `node_modules/zod`. */
  readonly path: string;
  /** The name under which it is installed. */
  readonly alias: string;
  /** The name in the registry. */
  readonly name: string;
  readonly version: string;
  readonly integrity?: string;
}

/** Returns every entry of the repository's package-lock.json for a package from a registry. */
export async function lockedPackages(): Promise<readonly LockedPackage[]> {
  const text = await readFile(new URL('../../../../package-lock.json', import.meta.url), 'utf8');
  const { packages } = JSON.parse(text) as {
    readonly packages: Readonly<
      Record<string, { name?: string; version: string; integrity?: string; link?: true }>
    >;
  };
  return Object.entries(packages).flatMap(([path, { name, version, integrity, link }]) => {
    const alias = path.split('node_modules/').at(-1) ?? path;
    return !path.includes('node_modules/') || link
      ? []
      : [{ path, alias, name: name ?? alias, version, ...(integrity !== undefined && { integrity }) }];
  });
}

export interface TamperedRegistry {
  /** Runs `npm ci` in a project with this entry in its lock. Returns npm's error code, or `installed`. */
  readonly install: (locked: LockedPackage) => Promise<string>;
  readonly close: () => Promise<void>;
}

/** Starts a registry on 127.0.0.1 that serves any package, with other content than the published one. */
export async function startTamperedRegistry(): Promise<TamperedRegistry> {
  const server = createServer((request, response) => {
    const [name = '', version] = decodeURIComponent(request.url?.slice(1) ?? '').split('/-/');
    const { port } = server.address() as AddressInfo;
    if (version !== undefined) {
      response.end(tarball(name, version));
      return;
    }
    // npm requests the list of all versions of a package. Only the locked ones are needed.
    const lockedVersions = versionsByName.get(name) ?? [];
    const versions = lockedVersions.map((each) => [
      each,
      {
        name,
        version: each,
        dist: {
          tarball: `http://127.0.0.1:${port}/${name}/-/${each}`,
          integrity: integrityOf(tarball(name, each)),
        },
      },
    ]);
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ name, 'dist-tags': {}, versions: Object.fromEntries(versions) }));
  });
  const versionsByName = new Map<string, string[]>();
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const registry = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;

  return {
    install: async ({ alias, name, version, integrity }) => {
      versionsByName.set(name, [...(versionsByName.get(name) ?? []), version]);
      const folder = await mkdtemp(join(tmpdir(), 'tampered-'));
      try {
        const root = {
          name: 'tampered',
          version: '1.0.0',
          dependencies: { [alias]: alias === name ? version : `npm:${name}@${version}` },
        };
        const entry = { ...(alias !== name && { name }), version, ...(integrity && { integrity }) };
        await writeFile(join(folder, 'package.json'), JSON.stringify(root));
        await writeFile(
          join(folder, 'package-lock.json'),
          JSON.stringify({
            ...root,
            lockfileVersion: 3,
            packages: { '': root, [`node_modules/${alias}`]: entry },
          }),
        );
        return await npmCi(folder, registry);
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Runs `npm ci` with an empty cache: npm would otherwise use cached content with the right hash. */
async function npmCi(folder: string, registry: string): Promise<string> {
  const child = spawn(
    'npm',
    [
      'ci',
      '--ignore-scripts',
      '--no-audit',
      '--no-fund',
      '--registry',
      registry,
      '--cache',
      join(folder, 'cache'),
    ],
    { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] },
  );
  let printed = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    printed += text;
  });
  const code = await new Promise<number | null>((resolve) => {
    child.once('close', resolve);
  });
  return code === 0 ? 'installed' : (/npm error code (\w+)/.exec(printed)?.[1] ?? printed);
}

const integrityOf = (bytes: Buffer): string =>
  `sha512-${createHash('sha512').update(bytes).digest('base64')}`;

/** Returns the tarball of a package that has only a manifest. */
function tarball(name: string, version: string): Buffer {
  const file = Buffer.from(JSON.stringify({ name, version, description: 'tampered' }));
  const header = Buffer.alloc(512);
  const fields: readonly (readonly [offset: number, value: string])[] = [
    [0, 'package/package.json'],
    [100, '0000644\0'],
    [108, '0000000\0'],
    [116, '0000000\0'],
    [124, `${file.length.toString(8).padStart(11, '0')}\0`],
    [136, '00000000000\0'],
    [148, '        '],
    [156, '0'],
    [257, 'ustar\x0000'],
  ];
  for (const [offset, value] of fields) header.write(value, offset, 'latin1');
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  const padding = Buffer.alloc(512 - (file.length % 512) + 1024);
  return gzipSync(Buffer.concat([header, file, padding]));
}
