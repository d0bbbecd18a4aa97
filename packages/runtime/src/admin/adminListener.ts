import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { HttpResponse } from 'trpc-gateway';
import { ListenError } from 'trpc-gateway/serve';

/** A handler whose response body is not a stream. */
type AdminPage = () => HttpResponse | Promise<HttpResponse>;

export interface AdminListenerOptions {
  /** The address to listen on. */
  readonly host: string;
  /** 0 picks a free port. */
  readonly port: number;
  /** The pages by path, for GET and HEAD, without authentication: every client that can connect can read them. */
  readonly pages: Readonly<Record<`/${string}`, AdminPage>>;
}

export interface AdminListener {
  readonly port: number;
  /** Closes the listener and all its connections immediately, including responses in progress. */
  close(): Promise<void>;
}

/**
 * Starts an HTTP listener for operators, on its own port and node:http: it answers while the service rejects connections.
 * @throws {ListenError} if the address or the port cannot be used
 */
export async function adminListener({ host, port, pages }: AdminListenerOptions): Promise<AdminListener> {
  const byPath = new Map<string, AdminPage>(Object.entries(pages));
  const server = createServer((request, response) => void handleRequest(byPath, request, response));
  server.listen(port, host);
  try {
    await once(server, 'listening');
  } catch (error) {
    // `once` rejects with the listener's error, which is a system error.
    throw ListenError.from(error as NodeJS.ErrnoException, host, port);
  }
  return {
    // A listening TCP server has an address of this type.
    port: (server.address() as AddressInfo).port,
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

async function handleRequest(
  pages: ReadonlyMap<string, AdminPage>,
  { method, url = '' }: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const page = pages.get(url.split('?', 1)[0] ?? '');
  const { status, headers, body } =
    page === undefined
      ? adminErrorResponse(404, 'NOT_FOUND', 'There is no route at this path.')
      : method !== 'GET' && method !== 'HEAD'
        ? adminErrorResponse(
            405,
            'METHOD_NOT_SUPPORTED',
            'The method is not allowed at this path. Use one of GET, HEAD.',
            ['allow', 'GET, HEAD'],
          )
        : await renderPage(page);
  response.writeHead(status, headers.flat());
  // Node omits the body for HEAD.
  response.end(body);
}

async function renderPage(page: AdminPage): Promise<HttpResponse> {
  try {
    return await page();
  } catch {
    return adminErrorResponse(500, 'INTERNAL_SERVER_ERROR', 'The page could not be generated.');
  }
}

const adminErrorResponse = (
  status: number,
  code: string,
  message: string,
  ...headers: HttpResponse['headers']
): HttpResponse => ({
  status,
  headers: [['content-type', 'application/json'], ...headers],
  body: JSON.stringify({ code, message, status }),
});
