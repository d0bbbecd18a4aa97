import { createTRPCClient, httpBatchLink, TRPCClientError } from '@trpc/client';
import superjson from 'superjson';
import type { AppRouter } from './router.ts';

/** What each request returned, by its name. */
export type Received = Record<string, unknown>;

/** Uses the help desk as its users do: as the scripts of a customer over REST, and as its web app over tRPC. */
export async function useHelpDesk(origin: string): Promise<Received> {
  const received: Received = { document: await (await fetch(`${origin}/openapi.json`)).text() };
  const ada = await signIn(origin, 'ada', 'lovelace');
  const bob = await signIn(origin, 'bob', 'builder');
  await sendRequests(origin, ada, bob, received);
  await callProcedures(origin, ada, bob, received);
  return received;
}

async function signIn(origin: string, name: string, password: string): Promise<string> {
  const response = await fetch(`${origin}/v1/sign-in`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: `${name}@desk.example`, password }),
  });
  return `Bearer ${((await response.json()) as { token: string }).token}`;
}

const requester = { email: 'cy@acme.example' };
const due = '2026-02-01T12:00:00.000Z';

/** Requests of scripts, from valid ones to those that nobody has checked against the document. */
const requests: readonly (readonly [method: string, path: string, body?: unknown, authorization?: string])[] =
  [
    ['POST', '/tickets', { subject: 'No paper', due, requester: { ...requester, phone: 5 } }],
    [
      'POST',
      '/tickets',
      { subject: 'Screen', due: 0, requester: { ...requester, phone: '5' }, labels: ['a'] },
    ],
    ['GET', '/tickets'],
    ['GET', '/tickets?priority=normal&dueBefore=2026-03-01&isClosed=1&limit=3'],
    ['GET', '/tickets/'],
    ['GET', '/Tickets?limit=+5'],
    ['GET', '/tickets?limit=1e1&unknown=1'],
    ['GET', '/tickets?limit='],
    ['GET', '/tickets?isClosed=no'],
    ['GET', '/tickets?limit=51'],
    ['GET', '/tickets?limit=many&priority=urgent'],
    ['GET', '/tickets/1'],
    ['GET', '/tickets/1.0'],
    ['GET', '/tickets/none'],
    ['GET', '/tickets/999'],
    ['PUT', '/tickets/1', { subject: 'Out of paper', priority: 'high', due: null }],
    ['PUT', '/tickets/1', { subject: '', priority: 'high' }],
    ['POST', '/tickets', { subject: 'Mouse', due: 'soon', requester: { email: 'cy' } }],
    ['POST', '/tickets', {}],
    ['POST', '/tickets/2/close', {}],
    ['POST', '/tickets/2/close', { force: true }],
    ['DELETE', '/tickets/2'],
    ['DELETE', '/tickets/2', undefined, 'bob'],
    ['GET', '/reports/broken?from=5'],
    ['GET', '/reports/broken?from=five'],
    ['POST', '/sign-in', { email: 'ada@desk.example', password: 'wrong-one' }, 'none'],
    ['POST', '/sign-in', { email: 'ada@desk.example', password: 'short' }, 'none'],
    ['GET', '/me', undefined, 'bob'],
    ['GET', '/me', undefined, 'none'],
    ['GET', '/me', undefined, 'Bearer expired'],
    ['GET', '/me', undefined, 'Basic YTpi'],
    ['GET', '/nothing'],
    ['POST', '/tickets/1', {}],
  ];

async function sendRequests(origin: string, ada: string, bob: string, received: Received): Promise<void> {
  const users: Readonly<Record<string, string | undefined>> = { ada, bob, none: undefined };
  const send = async (method: string, path: string, init: RequestInit, user = 'ada') => {
    const authorization = user in users ? users[user] : user;
    const headers = new Headers(init.headers);
    if (authorization !== undefined) headers.set('authorization', authorization);
    const response = await fetch(`${origin}/v1${path}`, { ...init, method, headers });
    const text = await response.text();
    const body: unknown = text === '' ? '' : JSON.parse(text);
    return { status: response.status, type: response.headers.get('content-type'), body };
  };
  for (const [method, path, body, user] of requests) {
    const json = { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
    let name = [method, path, ...(body === undefined ? [] : [json.body]), ...(user ? [user] : [])].join(' ');
    if (name in received) name += ', again';
    received[name] = await send(method, path, body === undefined ? {} : json, user);
  }
  const text = { body: 'subject=Mouse', headers: { 'content-type': 'text/plain' } };
  received['text for JSON'] = await send('POST', '/tickets', text);
  received['no content type'] = await send('POST', '/tickets/9/close', {});
}

/** What a tRPC client receives: the value, or the error. */
async function outcome(call: Promise<unknown>): Promise<unknown> {
  try {
    return { value: await call };
  } catch (error) {
    if (!(error instanceof TRPCClientError)) throw error;
    return { message: error.message, shape: error.shape as unknown };
  }
}

/** Calls each procedure as the web app does. */
async function callProcedures(origin: string, ada: string, bob: string, received: Received): Promise<void> {
  const clientOf = (headers: Readonly<Record<string, string>>) =>
    createTRPCClient<AppRouter>({
      links: [httpBatchLink({ url: `${origin}/trpc`, headers, transformer: superjson })],
    });
  const admin = clientOf({ authorization: ada });
  const agent = clientOf({ authorization: bob });
  const guest = clientOf({});
  const stranger = clientOf({ authorization: 'Basic YTpi' });
  const credentials = { email: 'bob@desk.example', password: 'builder' };
  const calls: Readonly<Record<string, () => Promise<unknown>>> = {
    'account.signIn': async () => Object.keys(await guest.account.signIn.mutate(credentials)),
    'account.signIn, wrong': () => guest.account.signIn.mutate({ ...credentials, password: 'guessed' }),
    'account.me': () => agent.account.me.query(),
    'account.me, guest': () => guest.account.me.query(),
    'account.me, other scheme': () => stranger.account.me.query(),
    'tickets.create': () =>
      agent.tickets.create.mutate({ subject: 'Mouse', requester, due: new Date(due), labels: ['b', 'c'] }),
    'tickets.create, invalid': () => agent.tickets.create.mutate({ subject: '', requester: { email: 'cy' } }),
    'tickets.list': () => agent.tickets.list.query(),
    'tickets.list, batch': () =>
      Promise.all([
        agent.tickets.list.query({ dueBefore: new Date('2026-06-01') }),
        agent.tickets.list.query({ isClosed: false, limit: 1 }),
      ]),
    'tickets.byId': () => agent.tickets.byId.query({ id: 3 }),
    'tickets.update': () =>
      agent.tickets.update.mutate({ id: 3, subject: 'Keys', priority: 'low', due: null }),
    'tickets.close': () => agent.tickets.close.mutate({ id: 3 }),
    'tickets.close, again': () => agent.tickets.close.mutate({ id: 3 }),
    'tickets.labels': () => agent.tickets.labels.query(),
    'tickets.remove, agent': () => agent.tickets.remove.mutate({ id: 3 }),
    'tickets.remove': () => admin.tickets.remove.mutate({ id: 3 }),
    'reports.broken': () => agent.reports.broken.query({ from: 2n ** 60n }),
  };
  for (const [name, call] of Object.entries(calls)) received[name] = await outcome(call());
}
