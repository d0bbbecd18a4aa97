import { once } from 'node:events';
import { mongodbUri } from '@petstore/testing/mongodb';
import { measured } from '@petstore/testing/slowness';
import { describe, expect, test, vi } from 'vitest';
import { newDatabase } from '../testing/newDatabase.ts';
import { newFolder } from '../testing/newFolder.ts';
import { ready } from '../testing/petStoreProcess.ts';
import { listPets, openSocket } from '../testing/petCalls.ts';

/** The documented maximum delay of a revocation. */
const promisedMs = 5_000;

/** Calls on a WebSocket with a key. `closed` resolves with its close code. */
async function callOnSocket(origin: string, key: string) {
  const socket = await openSocket(origin, key);
  socket.send(JSON.stringify({ id: 1, method: 'query', params: { path: 'listPets' } }));
  await once(socket, 'message');
  return { closed: once(socket, 'close').then(([event]) => (event as { readonly code: number }).code) };
}

describe.each([
  ['a folder', newFolder, false],
  ['a database', newDatabase, mongodbUri === undefined],
] as const)('a revoked key on %s', (_, newStore, isMissing) => {
  test.skipIf(isMissing)(
    'every process rejects a revoked key and closes its WebSockets within 5 s, and accepts other keys',
    async () => {
      const { serve, command } = await newStore();
      const servers = await Promise.all([serve(), serve()]);
      await Promise.all(servers.map((server) => ready(server)));
      const added = await command(['keys', 'add', 'leaves']);
      expect(added).toMatchObject({
        code: 0,
        stderr: '',
        stdout: expect.stringMatching(/^psk_[\w-]{43}\n$/),
      });
      const key = added.stdout.trim();
      const other = (await command(['keys', 'add', 'stays'])).stdout.trim();
      const statuses = (token: string) =>
        Promise.all(
          servers.map(async ({ origin }) => {
            const response = await listPets(origin, { key: token });
            await response.arrayBuffer();
            return response.status;
          }),
        );
      await vi.waitFor(async () => expect(await statuses(key)).toEqual([200, 200]));
      const sockets = await Promise.all(servers.map(({ origin }) => callOnSocket(origin, key)));

      expect(await command(['keys', 'revoke', 'leaves'])).toMatchObject({
        code: 0,
        stdout: 'Revoked "leaves". Every process rejects it within 5 seconds.\n',
      });
      const since = performance.now();
      expect(await Promise.all(sockets.map(({ closed }) => closed))).toEqual([1008, 1008]);
      await vi.waitFor(async () => expect(await statuses(key)).toEqual([401, 401]));
      expect(measured(performance.now() - since)).toBeLessThan(promisedMs);
      expect(await statuses(other)).toEqual([200, 200]);
    },
  );
});
