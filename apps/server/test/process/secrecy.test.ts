import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { newFolder } from '../testing/newFolder.ts';
import { createPet, rex } from '../testing/petCalls.ts';

test('the data folder has only the hash of a key, also after the key was used', async () => {
  const { serve, command, dataDir } = await newFolder();
  const server = await serve();
  const key = (await command(['keys', 'add', 'ci'])).stdout.trim();
  await createPet(server.origin, rex, { key, headers: { 'idempotency-key': 'once' } });
  await server.stop();
  const files = await readdir(dataDir);
  const contents = await Promise.all(files.map((file) => readFile(join(dataDir, file), 'latin1')));
  const stored = contents.join('');
  expect(stored).toContain('"name":"ci"');
  expect(stored).not.toContain(key.slice(4, 20));
});

test('no response and no log line repeats a token, whatever is wrong with its request, and no line has a header or query', async () => {
  const { serve } = await newFolder();
  const server = await serve({ env: { LOG_LEVEL: 'trace', LOG_REQUESTS: 'all' } });
  const good = /psk_[\w-]{43}/.exec(server.stderr())?.[0] ?? '';
  const bad = 'psk_a-token-that-was-never-issued';
  const responses: string[] = [];
  for (const [token, authorization] of [
    [good, `Bearer ${good}`],
    [good, `Bearer ${good} ${good}`],
    [good, `Basic ${good}`],
    [good, good],
    [bad, `Bearer ${bad}`],
    [bad, `Bearer "${bad}"`],
  ] as const) {
    for (const [target, init] of [
      ['/v1/pets?secret=of-the-query', {}],
      ['/v1/nothing', {}],
      ['/v1/pets', { method: 'DELETE' }],
      ['/v1/pets', { method: 'POST', body: '{' }],
      ['/trpc/listPets', {}],
      ['/trpc/nothing,listPets?batch=1', {}],
      ['/trpc/createPet', { method: 'POST', body: '{' }],
    ] as const) {
      const headers = { authorization, 'content-type': 'application/json', cookie: 'session=in-a-cookie' };
      const response = await fetch(server.origin + target, { ...init, headers });
      responses.push(`${[...response.headers].join('\n')}\n${await response.text()}`);
    }
    const socket = new WebSocket(`${server.origin.replace('http', 'ws')}/trpc?connectionParams=1`);
    socket.addEventListener('message', ({ data }) => responses.push(String(data)));
    socket.addEventListener('close', ({ reason }) => responses.push(reason));
    await once(socket, 'open');
    socket.send(JSON.stringify({ method: 'connectionParams', data: { authorization } }));
    socket.send(
      JSON.stringify({ id: token, method: 'query', params: { path: 'nothing' } }).replace(token, '1'),
    );
    const stopController = once(socket, 'close');
    await Promise.race([stopController, once(socket, 'message')]);
    socket.close();
    await stopController;
  }
  await server.stop();
  for (const token of [good, bad]) {
    expect(responses.join('\n')).not.toContain(token);
    expect(server.stdout()).not.toContain(token);
  }
  for (const secret of ['of-the-query', 'in-a-cookie', 'Bearer', 'authorization']) {
    expect(server.stdout()).not.toContain(secret);
  }
  expect(responses.length).toBeGreaterThan(42);
});
