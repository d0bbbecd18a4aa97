import {
  createTRPCClient,
  createTRPCUntypedClient,
  httpBatchLink,
  httpLink,
  isNonJsonSerializable,
  splitLink,
  TRPCClientError,
} from '@trpc/client';
import superjson from 'superjson';
import type { AppRouter } from './router.ts';
import { rows, samples } from './samples.ts';

/** What each request returned, by its name. */
export type Received = Record<string, unknown>;

interface Operation {
  readonly method: string;
  readonly path: string;
}

/** Uses all of the help desk as its users do: as the scripts of a customer over REST, and as its web app over tRPC. */
export async function useHelpDesk(origin: string): Promise<Received> {
  const received: Received = {};
  await callOperations(origin, await signIn(origin, 'ada', 'lovelace'), received);
  // The last of the operations has signed ada out.
  const tokens = {
    ada: await signIn(origin, 'ada', 'lovelace'),
    bob: await signIn(origin, 'bob', 'builder'),
  };
  await sendRequests(origin, tokens, received);
  await callProcedures(origin, tokens, received);
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

/** The operations of the document that the server publishes, by id. */
async function operationsOf(origin: string): Promise<ReadonlyMap<string, Operation>> {
  const document = (await (await fetch(`${origin}/openapi.json`)).json()) as {
    paths: Record<string, Record<string, { operationId: string }>>;
  };
  return new Map(
    Object.entries(document.paths).flatMap(([path, item]) =>
      Object.entries(item).map(([method, { operationId }]) => [operationId, { method, path }] as const),
    ),
  );
}

/** Calls each operation of the document. */
async function callOperations(origin: string, authorization: string, received: Received): Promise<void> {
  const operations = await operationsOf(origin);
  received['operations'] = [...operations.keys()].toSorted();
  for (const [id, { path = {}, query = {}, body }] of Object.entries(samples)) {
    const { method = 'GET', path: template = `/no-operation-${id}` } = operations.get(id) ?? {};
    const filled = template.replaceAll(/\{(\w+)\}/g, (_whole, name: string) => String(path[name]));
    const search = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)]));
    // Scripts send JSON with every request that is not GET.
    const sent = body ?? (method === 'post' || method === 'put' ? {} : undefined);
    received[id] = await send(origin, method.toUpperCase(), `${filled}?${search}`, authorization, sent);
  }
}

async function send(
  origin: string,
  method: string,
  path: string,
  authorization?: string,
  body?: unknown,
  type = 'application/json',
): Promise<unknown> {
  const response = await fetch(`${origin}/v1${path}`, {
    method,
    headers: {
      ...(authorization !== undefined && { authorization }),
      ...(body !== undefined && { 'content-type': type }),
    },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  return {
    status: response.status,
    type: response.headers.get('content-type'),
    body: text.startsWith('{"token"') ? 'a token' : text === '' ? '' : (JSON.parse(text) as unknown),
  };
}

/** Sends requests as scripts send them that nobody has checked against the document, and invalid ones. */
async function sendRequests(
  origin: string,
  { ada, bob }: { readonly ada: string; readonly bob: string },
  received: Received,
): Promise<void> {
  const ticket = {
    subject: 'Screen',
    text: 'It is dark.',
    requester: { email: 'cy@acme.example', phone: '5' },
  };
  const requests: readonly (readonly [
    method: string,
    path: string,
    body?: unknown,
    authorization?: string,
  ])[] = [
    ['GET', '/customers/'],
    ['GET', '/Customers'],
    ['GET', '/customers?limit=+5'],
    ['GET', '/customers?limit=1e1'],
    ['GET', '/customers?limit=5.0'],
    ['GET', '/customers?limit='],
    ['GET', '/customers?search='],
    ['GET', '/customers?newestFirst=1'],
    ['GET', '/customers?newestFirst=no'],
    ['GET', '/customers?createdSince=2026-01-02'],
    ['GET', '/customers?createdSince=1767225600000'],
    ['GET', '/customers?limit=101'],
    ['GET', '/customers?limit=many'],
    ['GET', '/customers?unknown=1'],
    ['GET', '/customers/999'],
    ['GET', '/customers/none'],
    ['PATCH', '/customers/999', { vip: true }],
    ['DELETE', '/customers/999'],
    ['POST', '/customers', { email: 'di@acme.example', name: 'Di', vip: 1, birthday: '1991-05-06' }],
    ['POST', '/customers', { email: 'ed@acme.example', name: 'Ed', organization: '2' }],
    ['POST', '/customers', { email: 'ed', name: '', vip: null }],
    ['POST', '/customers', {}],
    ['POST', '/organizations', { name: 'Nil', seats: '7', more: true }],
    ['POST', '/organizations', { name: 'Nil', address: { street: 'S' } }],
    ['POST', '/assets', { serial: 'X-2', price: '12.50', boughtAt: 0 }],
    ['POST', '/assets', { serial: 'X-2', price: -1 }],
    ['POST', '/teams', { name: 'Second line', members: 'ada' }],
    ['POST', '/articles', { title: 'Without a pin', body: 'It is short.' }],
    ['POST', '/assets', { serial: 'X-3' }],
    ['POST', '/tags', { name: 'Not A Tag', color: 'pink' }],
    ['POST', '/holidays', { day: 'tomorrow', name: 'None' }],
    ['POST', '/sla-policies', { name: 'None', firstReplyMinutes: '', solveHours: 1 }],
    ['POST', '/tickets', ticket],
    ['POST', '/tickets', { ...ticket, due: 1_767_225_600_000, labels: ['screen'] }],
    ['POST', '/tickets/2/close', {}],
    ['POST', '/tickets/2/close', {}],
    ['POST', '/tickets/2/watch', {}],
    ['PUT', '/tickets/2/watch/', {}],
    ['GET', '/tickets'],
    ['GET', '/tickets?unassigned=true&priority=high'],
    ['GET', '/tickets?priority=urgent'],
    ['GET', '/reports/volume?from=2026-01-08&to=2026-01-01'],
    ['GET', '/reports/volume?from=2026-01-01'],
    ['GET', '/reports/largest-number?first=9007199254740993&second=x'],
    ['POST', '/sign-in', { email: 'ada@desk.example', password: 'wrong-one' }, ''],
    ['POST', '/sign-in', { email: 'ada@desk.example' }, ''],
    ['POST', '/sign-up', { email: 'bob@desk.example', password: 'builder' }, ''],
    ['GET', '/version', undefined, ''],
    ['GET', '/me', undefined, ''],
    ['GET', '/me', undefined, 'Bearer expired'],
    ['GET', '/me', undefined, 'Basic YTpi'],
    ['GET', '/customers', undefined, ''],
    ['POST', '/tickets/purge', { closedBefore: '2026-01-01' }, bob],
    ['PATCH', '/settings', { hours: [8, 16], holidays: { kept: true } }],
    ['GET', '/settings?extra=1'],
    ['GET', '/replies'],
    ['GET', '/nothing'],
  ];
  for (const [method, path, body, authorization = ada] of requests) {
    let name = [method, path, ...(body === undefined ? [] : [JSON.stringify(body)])].join(' ');
    while (name in received) name += ', again';
    received[name] = await send(origin, method, path, authorization || undefined, body);
  }
  const type = 'text/plain';
  received['text for JSON'] = await send(origin, 'POST', '/customers', ada, 'name=Di', type);
  received['no content type'] = await send(origin, 'POST', '/tickets/1/reopen', ada);
}

/** What a tRPC client receives: the value, or the error. The status of a batch is left out: it has several calls. */
async function outcome(call: Promise<unknown>, isBatch = false): Promise<unknown> {
  try {
    return { value: await call };
  } catch (error) {
    if (!(error instanceof TRPCClientError)) throw error;
    const { response } = error.meta as { response: Response };
    const received = { message: error.message, shape: error.shape as unknown };
    return isBatch ? received : { status: response.status, ...received };
  }
}

function linksOf(origin: string, authorization?: string) {
  const url = `${origin}/trpc`;
  const headers = authorization === undefined ? {} : { authorization };
  return [
    splitLink({
      condition: ({ input }) => isNonJsonSerializable(input),
      true: httpLink({
        url,
        headers,
        transformer: { serialize: (data: unknown) => data, deserialize: superjson.deserialize },
      }),
      false: httpBatchLink({ url, headers, transformer: superjson }),
    }),
  ];
}

/** A row of JSON as the web app sends it: with dates. */
const withDates = (row: object) =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name,
      typeof value === 'string' && /^\d{4}-\d\d-\d\dT/.test(value) ? new Date(value) : (value as unknown),
    ]),
  );

function formOf(fields: Readonly<Record<string, readonly (string | File)[]>>): FormData {
  const form = new FormData();
  for (const [name, values] of Object.entries(fields)) for (const value of values) form.append(name, value);
  return form;
}

/** Calls each procedure as the web app does. */
async function callProcedures(
  origin: string,
  { ada, bob }: { readonly ada: string; readonly bob: string },
  received: Received,
): Promise<void> {
  const untyped = createTRPCUntypedClient<AppRouter>({ links: linksOf(origin, bob) });
  for (const [name, [row, change]] of Object.entries(rows)) {
    const created = untyped.mutation(`${name}.create`, withDates(row));
    received[`${name}.create`] = await outcome(created);
    const { id } = (await created) as { id: number };
    received[`${name}.update`] = await outcome(
      untyped.mutation(`${name}.update`, { id, ...withDates(change) }),
    );
    received[`${name}.byId`] = await outcome(untyped.query(`${name}.byId`, { id }));
    received[`${name}.list`] = await outcome(untyped.query(`${name}.list`, { search: 'a', limit: 2 }));
    received[`${name}.remove`] = await outcome(untyped.mutation(`${name}.remove`, { id }));
    received[`${name}.byId, removed`] = await outcome(untyped.query(`${name}.byId`, { id }));
    received[`${name}.create, invalid`] = await outcome(untyped.mutation(`${name}.create`, { name: 1 }));
  }

  const agent = createTRPCClient<AppRouter>({ links: linksOf(origin, bob) });
  const admin = createTRPCClient<AppRouter>({ links: linksOf(origin, ada) });
  const guest = createTRPCClient<AppRouter>({ links: linksOf(origin) });
  const stranger = createTRPCClient<AppRouter>({ links: linksOf(origin, 'Basic YTpi') });
  const file = new File(['The screen.'], 'screen.txt', { type: 'text/plain' });
  const period = { from: new Date('2026-01-01'), to: new Date('2026-01-02') };
  const requester = { email: 'cy@acme.example' };
  const calls: Readonly<Record<string, () => Promise<unknown>>> = {
    'service.version': () => guest.service.version.query(),
    'account.methods': () => guest.account.methods.query(),
    'account.signUp': () => guest.account.signUp.mutate({ email: 'eve@desk.example', password: 'secret' }),
    'account.signUp, taken': () =>
      guest.account.signUp.mutate({ email: 'eve@desk.example', password: 'secret' }),
    'account.signIn': async () =>
      Object.keys(await guest.account.signIn.mutate({ email: 'eve@desk.example', password: 'secret' })),
    'account.signIn, wrong': () =>
      guest.account.signIn.mutate({ email: 'eve@desk.example', password: 'guessed' }),
    'account.signIn, invalid': () => guest.account.signIn.mutate({ email: 'eve', password: 'secret' }),
    'account.me': () => agent.account.me.query(),
    'account.me, guest': () => guest.account.me.query(),
    'account.me, other scheme': () => stranger.account.me.query(),
    'account.changePassword': () => agent.account.changePassword.mutate({ password: 'new-builder' }),
    'admin.users': () => admin.admin.users.query(),
    'admin.users, agent': () => agent.admin.users.query(),
    'admin.user': () => admin.admin.user.query('eve@desk.example'),
    'admin.user, none': () => admin.admin.user.query('nobody@desk.example'),
    'admin.signOut': () => admin.admin.signOut.mutate('eve@desk.example'),
    'admin.address': () => admin.admin.address.query(),
    'tickets.create': () => agent.tickets.create.mutate({ subject: 'Mouse', text: 'It squeaks.', requester }),
    'tickets.create, due': () =>
      agent.tickets.create.mutate({ subject: 'Keys', text: 'Lost.', requester, due: period.to }),
    'tickets.list': () => agent.tickets.list.query(),
    'tickets.byId': () => agent.tickets.byId.query({ id: 1 }),
    'tickets.update': () =>
      agent.tickets.update.mutate({ id: 4, subject: 'A mouse', priority: 'low', due: period.from }),
    'tickets.assign': () => agent.tickets.assign.mutate({ id: 4, assignee: 'ada@desk.example' }),
    'tickets.comment': () => agent.tickets.comment.mutate({ id: 4, text: 'Which mouse?' }),
    'tickets.comments': () => agent.tickets.comments.query({ id: 4 }),
    'tickets.watch': () => agent.tickets.watch.mutate({ id: 4 }),
    'tickets.unwatch': () => agent.tickets.unwatch.mutate({ id: 4 }),
    'tickets.labels': () => agent.tickets.labels.query(),
    'tickets.merge': () => agent.tickets.merge.mutate({ id: 5, into: 4 }),
    'tickets.merge, itself': () => agent.tickets.merge.mutate({ id: 4, into: 4 }),
    'tickets.close': () => agent.tickets.close.mutate({ id: 4 }),
    'tickets.close, again': () => agent.tickets.close.mutate({ id: 4 }),
    'tickets.reopen': () => agent.tickets.reopen.mutate({ id: 4 }),
    'tickets.closeMany': () => agent.tickets.closeMany.mutate([1, 4]),
    'tickets.purge, agent': () => agent.tickets.purge.mutate({ closedBefore: period.to }),
    'attachments.upload': () =>
      agent.attachments.upload.mutate(formOf({ ticket: ['1'], file: [file], names: ['a', 'b'] })),
    'attachments.upload, no file': () => agent.attachments.upload.mutate(formOf({ ticket: ['1'] })),
    'attachments.uploadMany': () =>
      agent.attachments.uploadMany.mutate(formOf({ ticket: ['1'], file: [file, file] })),
    'attachments.uploadMany, none': () => agent.attachments.uploadMany.mutate(formOf({ ticket: ['1'] })),
    'attachments.ofTicket': () => agent.attachments.ofTicket.query({ ticket: 1 }),
    'attachments.remove': () => agent.attachments.remove.mutate({ id: 1 }),
    'attachments.remove, again': () => agent.attachments.remove.mutate({ id: 1 }),
    'reports.volume': () => agent.reports.volume.query(period),
    'reports.volume, backwards': () =>
      agent.reports.volume.query({ from: period.to, to: period.from, weekly: true }),
    'reports.largest': () => agent.reports.largest.query({ first: 2n ** 60n, second: 1n }),
    'reports.broken': () => agent.reports.broken.query({}),
    'reports.overdue': () => agent.reports.overdue.query(),
    'reports.assignees': () => agent.reports.assignees.query(),
    'reports.firstComment': () => agent.reports.firstComment.query({ ticket: 1 }),
    'reports.opened': () => agent.reports.opened.query([period.from, period.to, new Date('2027-01-01')]),
    'reports.limited': () => agent.reports.limited.query(),
    'settings.get': () => agent.settings.get.query(),
    'settings.set': () => agent.settings.set.mutate({ name: 'The desk', theme: new Set(['dark']) }),
    'tickets.purge': () => admin.tickets.purge.mutate({ closedBefore: new Date('2027-01-01') }),
    'account.signOut': () => agent.account.signOut.mutate({}),
    'account.me, signed out': () => agent.account.me.query(),
  };
  const batches: Readonly<Record<string, () => Promise<unknown>>> = {
    'tickets.list, batch': () =>
      Promise.all([
        agent.tickets.list.query({ dueBefore: new Date('2026-06-01') }),
        agent.tickets.list.query({ unassigned: true, limit: 1 }),
        agent.tickets.byId.query({ id: 1 }),
      ]),
    'tickets.byId, batch with an error': () =>
      Promise.all([agent.tickets.byId.query({ id: 1 }), agent.tickets.byId.query({ id: 99 })]),
  };
  for (const [name, call] of Object.entries(batches)) received[name] = await outcome(call(), true);
  for (const [name, call] of Object.entries(calls)) received[name] = await outcome(call());
  received['no procedure'] = await outcome(untyped.query('tickets.nothing'));
}
