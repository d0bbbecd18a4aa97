import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** A response in place of the server's; `drop` or `cut` (half) the server's; `hold`: no request arrives. */
export type Fault = Response | 'drop' | 'cut' | 'hold';

/**
 * Listens on a free port of 127.0.0.1, and passes requests on, to `fetch` of a gateway or of the platform: as a proxy or a
 * network that fails.
 */
export async function startFaultyFront(pass: (path: string, init: RequestInit) => Promise<Response>) {
  /** The faults of the next requests, in their order. Later requests are passed on. */
  const faults: Fault[] = [];
  /** The requests that came, and when. */
  const requests: { method: string; headers: IncomingMessage['headers']; at: number }[] = [];

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { headers, method = '', socket, url = '' } = request;
    requests.push({ method, headers, at: performance.now() });
    const body = await buffer(request);
    const fault = faults.shift();
    if (fault === 'hold') return;
    const init = { method, headers: headers as Record<string, string>, ...(body.length > 0 && { body }) };
    const received = fault instanceof Response ? fault : await pass(url, init);
    const text = Buffer.from(await received.arrayBuffer());
    if (fault === 'drop') return void socket.destroy();
    response.writeHead(received.status, [...received.headers].flat());
    if (fault === 'cut') response.write(text.subarray(0, text.length / 2), () => socket.destroy());
    else response.end(text);
  }

  const server = createServer((request, response) => void respond(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    faults,
    requests,
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
