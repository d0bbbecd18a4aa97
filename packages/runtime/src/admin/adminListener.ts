import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { HttpResponse } from '@petstore/gateway';
import { ListenError } from '@petstore/gateway/listen';

/** A page without a body that streams. */
type Page = () => HttpResponse | Promise<HttpResponse>;

export interface AdminListenerOptions {
  /** The address to listen on. */
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** What is at each path, for GET and HEAD, without a credential: who reaches the port may read it. */
  readonly pages: Readonly<Record<`/${string}`, Page>>;
}

export interface AdminListener {
  readonly port: number;
  /** Ends it at once, answers under way too. */
  close(): Promise<void>;
}

/**
 * Listens for those who run the service: on a port of its own, over Node's HTTP, so that it answers also while the service
 * refuses connections.
 * @throws {ListenError} where the address or the port cannot be used
 */
export async function adminListener({ host, port, pages }: AdminListenerOptions): Promise<AdminListener> {
  const byPath = new Map<string, Page>(Object.entries(pages));
  const server = createServer((request, response) => void received(byPath, request, response));
  server.listen(port, host);
  try {
    await once(server, 'listening');
  } catch (error) {
    // `once` rejects with what the listener failed with: an error of the system.
    throw ListenError.from(error as NodeJS.ErrnoException, host, port);
  }
  return {
    // An address in this form is what a TCP server that listens has.
    port: (server.address() as AddressInfo).port,
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

async function received(
  pages: ReadonlyMap<string, Page>,
  { method, url = '' }: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const page = pages.get(url.split('?', 1)[0] ?? '');
  const { status, headers, body } =
    page === undefined
      ? failure(404, 'NOT_FOUND', 'There is nothing at this path.')
      : method !== 'GET' && method !== 'HEAD'
        ? failure(405, 'METHOD_NOT_SUPPORTED', 'This path takes GET, HEAD.', ['allow', 'GET, HEAD'])
        : await madeOf(page);
  response.writeHead(status, headers.flat());
  // Node leaves it out for HEAD.
  response.end(body);
}

async function madeOf(page: Page): Promise<HttpResponse> {
  try {
    return await page();
  } catch {
    return failure(500, 'INTERNAL_SERVER_ERROR', 'The page could not be made.');
  }
}

const failure = (
  status: number,
  code: string,
  message: string,
  ...headers: HttpResponse['headers']
): HttpResponse => ({
  status,
  headers: [['content-type', 'application/json'], ...headers],
  body: JSON.stringify({ code, message, status }),
});
