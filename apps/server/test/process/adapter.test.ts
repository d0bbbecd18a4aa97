import { appRouter } from '@petstore/core';
import { hasUws } from '@petstore/testing/forms';
import { expect, test } from 'vitest';
import { apiKey, newFolder } from '../testing/newFolder.ts';
import { withoutBinary } from '../testing/otherVersions.ts';
import { logLines } from '@petstore/testing/serviceProcess';
import { createPet } from '../testing/petCalls.ts';

const uwsVersion = hasUws ? (await import('trpc-gateway/uws')).uwsVersion : undefined;
const noBinary: unknown = expect.stringContaining('no binary for Node');

test.each(
  [
    {
      SERVER: 'auto',
      WORKERS: '1',
      hasBinary: true,
      server: 'uws',
      name: 'uWebSockets.js',
      reason: undefined,
    },
    { SERVER: 'auto', WORKERS: '2', hasBinary: false, server: 'node', name: 'node:http', reason: noBinary },
    { SERVER: 'node', WORKERS: '1', hasBinary: true, server: 'node', name: 'node:http', reason: undefined },
  ].filter(({ server }) => hasUws || server === 'node'),
)(
  'SERVER=$SERVER WORKERS=$WORKERS with binary: $hasBinary serves on $name, as reported by the log, with its procedures and whether it created the store, by --check and the metrics',
  async ({ SERVER, WORKERS, hasBinary, server, name, reason }) => {
    const { serve, command } = await newFolder();
    const nodeArgs = hasBinary ? [] : withoutBinary;
    const env = { SERVER, WORKERS, API_KEY: apiKey, ADMIN_PORT: '0' };
    const running = await serve({ nodeArgs, env });
    const first = logLines(running).find(({ msg }) => msg === 'listening');
    const version = server === 'uws' ? uwsVersion : `Node ${process.version}`;
    const procedures = { compiled: Object.keys(appRouter._def.procedures).length, trpc: 0 };
    // Of several workers, each has opened the store.
    const ofOne = WORKERS === '1' ? { created: true, procedures } : {};
    expect(first).toMatchObject({ level: 30, server, version, ...ofOne });
    expect(first?.['fallbackReason']).toEqual(reason);
    const created = await createPet(running.origin);
    expect([created.status, await created.json()]).toEqual([201, { id: 1, name: 'Rex', categoryId: 1 }]);
    const metrics = await (await fetch(`${String(first?.admin)}/metrics`)).text();
    expect(metrics).toContain(`petstore_server_info{server="${server}"} 1\n`);
    expect(await running.stop()).toEqual({ code: 0, signal: null });
    const checked = await command(['--check'], { nodeArgs, env });
    expect(checked.stdout).toContain(`It would serve on ${name} (${version}).`);
  },
);
