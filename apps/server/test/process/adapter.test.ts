import { appRouter } from '@petstore/core';
import { hasUws } from '@petstore/testing/forms';
import { expect, test } from 'vitest';
import { apiKey, newFolder } from '../testing/newFolder.ts';
import { withoutBinary } from '../testing/otherVersions.ts';
import { logLines } from '../testing/petStoreProcess.ts';
import { createPet } from '../testing/petCalls.ts';

const uwsVersion = hasUws ? (await import('trpc-gateway/uws')).uwsVersion : undefined;
const noBinary: unknown = expect.stringContaining('no binary for Node');

test.each(
  [
    { SERVER: 'auto', hasBinary: true, server: 'uws', name: 'uWebSockets.js', reason: undefined },
    { SERVER: 'auto', hasBinary: false, server: 'node', name: 'node:http', reason: noBinary },
    { SERVER: 'node', hasBinary: true, server: 'node', name: 'node:http', reason: undefined },
  ].filter(({ server }) => hasUws || server === 'node'),
)(
  'SERVER=$SERVER with binary: $hasBinary serves on $name, as reported by the log, which has its procedures and whether it created the store, by --check and the metrics',
  async ({ SERVER, hasBinary, server, name, reason }) => {
    const { serve, command } = await newFolder();
    const nodeArgs = hasBinary ? [] : withoutBinary;
    const env = { SERVER, API_KEY: apiKey, ADMIN_PORT: '0' };
    const running = await serve({ nodeArgs, env });
    const first = logLines(running).find(({ level }) => level === 30);
    const version = server === 'uws' ? uwsVersion : `Node ${process.version}`;
    const procedures = { compiled: Object.keys(appRouter._def.procedures).length, trpc: 0 };
    expect(first).toMatchObject({ msg: 'listening', server, version, created: true, procedures });
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
