import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { DatabaseSync } from 'node:sqlite';
import { toNodeHandler } from 'better-auth/node';
import { apiKey, cookie, createGateway, problemDetails } from 'trpc-gateway';
import { jwt } from 'trpc-gateway/jwt';
import { mcp } from 'trpc-gateway/mcp';
import { nodeHandler } from 'trpc-gateway/node';
import { type Caller, openAuth } from './auth.ts';
import { pages } from './pages.ts';
import { NoteStore, notesRouter } from './router.ts';

export interface NotesOptions {
  readonly port: number;
  /** At least 32 random characters. */
  readonly secret: string;
  /** The SQLite file of users and notes. Default: in memory. */
  readonly file?: string;
  /** The origin that browsers and clients see. Default: the loopback address. */
  readonly publicUrl?: string;
  /** The addresses of proxies before it, which tell the addresses of clients. Default: none. */
  readonly trustProxy?: readonly string[];
}

/** Starts the service on 127.0.0.1: the gateway, and Better Auth for all other paths. */
export async function startNotes({
  port,
  secret,
  file = ':memory:',
  publicUrl,
  trustProxy = [],
}: NotesOptions) {
  const loopback = `http://127.0.0.1:${port}`;
  const origin = publicUrl ?? loopback;
  // Waits for another process that writes to the file.
  const database = new DatabaseSync(file, { timeout: 1_000 });
  const login = await openAuth({ origin, secret, database });
  const notes = new NoteStore(database);
  const gateway = await createGateway({
    router: notesRouter,
    document: { title: 'Notes', version: '1.0.0' },
    errorFormat: problemDetails,
    publicUrl: origin,
    trustProxy,
    authentication: [
      cookie<Caller>({
        cookie: login.sessionCookie,
        verify: login.bySession,
        scopes: (caller) => caller.scopes,
      }),
      apiKey<Caller>({ verify: login.byKey, scopes: (caller) => caller.scopes }),
      jwt<Caller>({
        issuer: login.issuer,
        audience: login.tools,
        type: 'at+jwt',
        jwksUri: `${loopback}/api/auth/jwks`,
        verify: login.byToken,
        scopes: (caller) => caller.scopes,
        // Tells agents where their users sign in (RFC 9728).
        protectedResource: { resource: login.tools },
      }),
    ],
    // An agent renews its token, so that a token does not identify its caller.
    rateLimit: { calls: 600, windowMs: 60_000, key: ({ identity }) => identity?.id },
    failedAttempts: { attempts: 20, windowMs: 60_000 },
    mcp: mcp(),
    createContext: ({ identity }) => ({ caller: identity, notes }),
    routes: pages,
  });
  const callGateway = nodeHandler(gateway);
  const callAuth = guarded(toNodeHandler(login.auth));
  const server = createServer((request, response) => {
    callGateway(request, response, () => void callAuth(request, response));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, '127.0.0.1', resolve);
  });
  return {
    origin,
    auth: login.auth,
    close: async () => {
      server.closeIdleConnections();
      await new Promise((resolve) => server.close(resolve));
      database.close();
    },
  };
}

/** Better Auth reads bodies without a limit of its own. */
const maxBodyBytes = 65_536;

type NodeHandler = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/** Limits the bodies that a handler receives, and responds where it rejects: to a head that is no `Request`, such as TRACE. */
const guarded =
  (handle: NodeHandler): NodeHandler =>
  async (request, response) => {
    const { 'content-length': length = '0', 'transfer-encoding': coding } = request.headers;
    const end = (status: number) => response.writeHead(status, { connection: 'close' }).end();
    if (coding !== undefined || Number(length) > maxBodyBytes) {
      end(413);
      return;
    }
    try {
      await handle(request, response);
    } catch {
      if (response.headersSent) response.destroy();
      else end(400);
    }
  };
