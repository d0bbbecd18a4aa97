import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

export interface CuttingBalancer {
  /** Where it listens. */
  readonly origin: string;
  /** Answers that were cut, by what they would have said. */
  readonly cut: {
    /** 201 of a create that stored its animal. */
    created: number;
    /** 201 of a repeat. */
    replayed: number;
    other: number;
  };
  close(): Promise<void>;
}

/**
 * What stands between clients and servers where the network is bad: each connection goes to one of the servers that are
 * there, and of so many of a hundred answers nothing arrives, though the server has sent them.
 */
export async function startCuttingBalancer(
  origins: () => readonly string[],
  percent: number,
): Promise<CuttingBalancer> {
  const cut = { created: 0, replayed: 0, other: 0 };
  const open = new Set<Socket>();
  const proxy = createServer((client) => {
    const there = origins();
    const { hostname, port } = new URL(
      there[Math.floor(Math.random() * there.length)] ?? 'http://127.0.0.1:1',
    );
    const server = connect(Number(port), hostname);
    const end = () => {
      client.destroy();
      server.destroy();
    };
    for (const socket of [client, server]) {
      open.add(socket);
      socket.setNoDelay();
      socket.on('error', end);
      socket.on('close', () => {
        open.delete(socket);
        end();
      });
    }
    client.on('data', (request) => server.write(request));
    // An answer of this service is one segment on loopback.
    server.on('data', (response) => {
      if (Math.random() * 100 >= percent) {
        client.write(response);
        return;
      }
      const text = response.toString('latin1');
      if (!text.startsWith('HTTP/1.1 201')) cut.other += 1;
      else if (/^idempotent-replayed:/im.test(text)) cut.replayed += 1;
      else cut.created += 1;
      end();
    });
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const address = proxy.address();
  if (address === null || typeof address === 'string') throw new Error('No port was given.');
  return {
    origin: `http://127.0.0.1:${address.port}`,
    cut,
    async close() {
      proxy.close();
      for (const socket of open) socket.destroy();
      if (proxy.listening) await once(proxy, 'close');
    },
  };
}
