import { once } from 'node:events';
import { expect, it, onTestFinished } from 'vitest';
import { WebSocketServer } from 'ws';
import type { Service } from '../../http/service.ts';
import { dial, ok, until } from '../testing/dial.ts';
import { handshake, recordingHandler } from '../testing/sockets.ts';
import { handleUpgrades, nodeHandler } from './index.ts';
import { serverOf } from './testing/serverOf.ts';

/** Sends bytes to a server and returns a function that returns the received text. */
const sendBytes = async (port: number, bytes: string) => (await dial({ port }, bytes)).text;

async function openAt(port: number, path: string): Promise<WebSocket> {
  const client = new WebSocket(`ws://127.0.0.1:${port}${path}`);
  onTestFinished(() => client.close());
  await once(client, 'open');
  return client;
}

const service: Service = {
  handle: ({ path }) => ok(`gateway ${path}`),
  upgrade: () => recordingHandler,
  serves: (path) => path.startsWith('/trpc'),
};

const h2c = (path: string) =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n` +
  'HTTP2-Settings: AAMAAABkAAQ\r\nContent-Length: 4\r\n\r\nbody';

it('handleUpgrades opens WebSockets, and close closes them', async () => {
  const { port, server } = await serverOf(nodeHandler(service));
  const upgrades = handleUpgrades(server, service);
  const client = await openAt(port, '/trpc?a=b');
  expect(upgrades.connections()).toBe(1);
  const closed = once(client, 'close');
  expect(await upgrades.close()).toBe(0);
  expect(await closed).toMatchObject([{ code: 1001 }]);
  expect(upgrades.connections()).toBe(0);
  server.close();
  await once(server, 'close');
});

it('close of handleUpgrades waits for calls until the deadline and accepts no more WebSockets', async () => {
  const { port, server } = await serverOf(nodeHandler(service));
  const acceptBusy = (socket: Parameters<typeof recordingHandler>[0]) => ({
    ...recordingHandler(socket),
    inFlight: 2,
    drain() {},
  });
  const upgrades = handleUpgrades(server, { ...service, upgrade: () => acceptBusy });
  await openAt(port, '/trpc');
  expect(upgrades.inFlight()).toBe(2);
  const closing = upgrades.close({ timeoutMs: 100 });
  const text = await sendBytes(port, `${handshake.replace('/socket', '/trpc')}\r\n`);
  await until(() => expect(text()).toMatch(/^HTTP\/1\.1 503 /));
  expect(await closing).toBe(2);
});

it.each(['before', 'after'])(
  'handleUpgrades leaves other paths to an upgrade listener that was added %s it',
  async (when) => {
    const { port, server } = await serverOf(nodeHandler(service));
    const others = new WebSocketServer({ noServer: true });
    const addOther = () =>
      server.on('upgrade', (message, socket, head) => {
        if (message.url !== '/hmr') return;
        others.handleUpgrade(message, socket, head, (ws) => ws.send('other'));
      });
    if (when === 'before') addOther();
    const upgrades = handleUpgrades(server, service);
    if (when === 'after') addOther();
    const other = await openAt(port, '/hmr');
    const [{ data }] = (await once(other, 'message')) as [{ data: string }];
    expect(data).toBe('other');
    expect(upgrades.connections()).toBe(0);
    await openAt(port, '/trpc');
    expect(upgrades.connections()).toBe(1);
  },
);

it('handleUpgrades rejects the promise of a gateway', async () => {
  const { server } = await serverOf(() => {});
  expect(() => handleUpgrades(server, Promise.resolve(service) as never)).toThrow(
    'handleUpgrades takes a gateway, not a promise: await createGateway({ … }).',
  );
  expect(server.listenerCount('upgrade')).toBe(0);
});

it('two gateways on one server open the WebSockets of their own paths and leave other paths to the server', async () => {
  const { port, server } = await serverOf((request, response) => response.end(`server ${request.url}`));
  const first = handleUpgrades(server, service);
  const second = handleUpgrades(server, { ...service, serves: (path) => path.startsWith('/other') });
  const text = await sendBytes(port, `${handshake.replace('/socket', '/elsewhere')}\r\n`);
  await until(() => expect(text()).toMatch(/server \/elsewhere$/));
  const body = await sendBytes(port, h2c('/elsewhere/write'));
  await until(() => expect(body()).toMatch(/server \/elsewhere\/write$/));
  await openAt(port, '/trpc');
  await openAt(port, '/other');
  expect([first.connections(), second.connections()]).toEqual([1, 1]);
});

it.each(['/trpc/write', '/elsewhere'])(
  'handleUpgrades leaves an h2c upgrade request to %s with its body to the request listener',
  async (path) => {
    const { port, server } = await serverOf((request, response) => {
      let body = '';
      request.on('data', (chunk) => (body += String(chunk)));
      request.on('end', () => response.end(`${request.url} ${body}`));
    });
    let connections = 0;
    server.on('connection', () => (connections += 1));
    handleUpgrades(server, service);
    const text = await sendBytes(port, h2c(path));
    await until(() => expect(text()).toContain(`${path} body`));
    // Node handles the request itself: a connection returned to the server would be emitted again.
    expect(connections).toBe(1);
  },
);
