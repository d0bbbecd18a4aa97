import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

export interface CuttingBalancer {
  /** The origin of the balancer. */
  readonly origin: string;
  /** Number of dropped responses, by kind. */
  readonly cut: {
    /** 201 responses of creates that stored an animal. */
    created: number;
    /** 201 responses of replayed creates. */
    replayed: number;
    other: number;
  };
  close(): Promise<void>;
}

/**
 * Starts a load balancer that simulates a bad network: it connects each client to a random available server and drops a
 * percentage of the responses that servers send.
 */
export async function startCuttingBalancer(
  origins: () => readonly string[],
  percent: number,
): Promise<CuttingBalancer> {
  const cut = { created: 0, replayed: 0, other: 0 };
  const open = new Set<Socket>();
  const proxy = createServer((client) => {
    const availableOrigins = origins();
    const { hostname, port } = new URL(
      availableOrigins[Math.floor(Math.random() * availableOrigins.length)] ?? 'http://127.0.0.1:1',
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
    // Responses of this service arrive in one segment on loopback.
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
  if (address === null || typeof address === 'string') throw new Error('The server has no port.');
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
