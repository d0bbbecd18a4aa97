import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

/** An entry of package-lock.json, of a package that comes from a registry. */
export interface Locked {
  /** Where it is installed: `node_modules/zod`. */
  readonly path: string;
  /** The name that it is installed under, and the name that the registry has it under. */
  readonly alias: string;
  readonly name: string;
  readonly version: string;
  readonly integrity?: string;
}

/** Every entry of the repository's package-lock.json that is fetched from a registry. */
export async function lockedPackages(): Promise<readonly Locked[]> {
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
  /** Runs `npm ci` in a project whose lock has this one entry. Returns npm's error code, or `installed`. */
  readonly install: (locked: Locked) => Promise<string>;
  readonly close: () => Promise<void>;
}

/** A registry on 127.0.0.1 that has every version of every package, each with other bytes than the published ones. */
export async function startTamperedRegistry(): Promise<TamperedRegistry> {
  const server = createServer((request, response) => {
    const [name = '', version] = decodeURIComponent(request.url?.slice(1) ?? '').split('/-/');
    const { port } = server.address() as AddressInfo;
    if (version !== undefined) {
      response.end(tarball(name, version));
      return;
    }
    // npm asks for all versions of a package: the one that it wants is the one which is locked.
    const found = wanted.get(name) ?? [];
    const versions = found.map((each) => [
      each,
      {
        name,
        version: each,
        dist: {
          tarball: `http://127.0.0.1:${port}/${name}/-/${each}`,
          integrity: hash(tarball(name, each)),
        },
      },
    ]);
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ name, 'dist-tags': {}, versions: Object.fromEntries(versions) }));
  });
  const wanted = new Map<string, string[]>();
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const registry = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;

  return {
    install: async ({ alias, name, version, integrity }) => {
      wanted.set(name, [...(wanted.get(name) ?? []), version]);
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

/** With a cache of its own: bytes that npm has already under the right hash would be taken from there. */
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

const hash = (bytes: Buffer): string => `sha512-${createHash('sha512').update(bytes).digest('base64')}`;

/** A package of one file, its manifest. */
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
