import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import { join } from 'node:path';
import { text as readText } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { startProcess } from '@petstore/testing/startProcess';
import {
  createTRPCUntypedClient,
  createWSClient,
  httpBatchLink,
  TRPCClientError,
  wsLink,
  type TRPCUntypedClient,
} from '@trpc/client';
import type { AnyTRPCRouter } from '@trpc/server';
import superjson from 'superjson';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { OpenApiDocument } from '../openApi.ts';
import { callTool, listTools } from '@petstore/testing/mcpMessages';

// Code bases in the shapes of public ones: their layout, their metadata, their contexts and their imports.
const shapes = fileURLToPath(new URL('shapes/', import.meta.url));
const program = fileURLToPath(new URL('../../src/command/main.ts', import.meta.url));
const pageUrl = new URL('../../../../docs/serve-command.md', import.meta.url);

/** A code base that the command serves. */
interface Running {
  readonly origin: string;
  /** What the command has printed, without the origin. */
  readonly report: string;
  /** What it has written to stderr. */
  readonly errors: string;
}

function start(folder: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  return startProcess(process.execPath, ['--conditions=trpc-gateway-source', program, 'serve', ...args], {
    cwd: folder,
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

const children: ChildProcess[] = [];
const chatArgs = ['src/router.ts', '--context', 'src/router.ts'];

/** Serves a code base, and reads what the command prints until it has printed a text. */
async function serveShape(
  shape: string,
  args: readonly string[],
  end = 'A server of your own',
  env?: Readonly<Record<string, string>>,
): Promise<Running> {
  const child = start(join(shapes, shape), [...args, '--port', '0'], env);
  children.push(child);
  let printed = '';
  let errors = '';
  child.stderr?.on('data', (text) => (errors += String(text)));
  for await (const text of child.stdout ?? []) {
    printed += String(text);
    if (printed.includes(end)) break;
  }
  const [origin] = /http:\/\/127\.0\.0\.1:\d+/.exec(printed) ?? [];
  if (origin === undefined) throw new Error(`The command has not started a server: ${errors}`);
  return { origin, report: printed.replaceAll(origin, ''), errors };
}

/** Runs the command to its end. */
async function fail(folder: string, ...args: readonly string[]) {
  const child = start(folder, args);
  let error = '';
  child.stderr?.on('data', (text) => (error += String(text)));
  const [code] = (await once(child, 'close')) as [number];
  return [code, error.replaceAll(folder, '')];
}

interface Options {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly method?: string;
}

/** Sends a request over REST. Resolves with the status and the body. */
async function rest(origin: string, path: string, { body, headers, method }: Options = {}) {
  const isForm = body instanceof FormData;
  const response = await fetch(`${origin}/v1${path}`, {
    method: method ?? (body === undefined ? 'GET' : 'POST'),
    headers: { ...(body !== undefined && !isForm && { 'content-type': 'application/json' }), ...headers },
    ...(body !== undefined && { body: isForm ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  return [response.status, text === '' ? text : (JSON.parse(text) as unknown)];
}

/** Sends a request with headers that `fetch` does not send. Resolves with the status, and the body unless it upgrades. */
async function sendRaw(url: string, options: RequestOptions, headers: object) {
  const request = httpRequest(url, { ...options, headers: { ...(options.headers as object), ...headers } });
  request.end();
  const received = Promise.race([once(request, 'response'), once(request, 'upgrade')]);
  const [response] = (await received) as [IncomingMessage];
  if (response.statusCode === 101) {
    response.socket.destroy();
    return [101, ''];
  }
  return [response.statusCode, await readText(response)];
}

/** tRPC's client of a router whose type is not known here. */
function trpc(
  { origin }: Running,
  headers: Readonly<Record<string, string>> = {},
  transformer?: typeof superjson,
): TRPCUntypedClient<AnyTRPCRouter> {
  const link = { url: `${origin}/trpc`, headers, ...(transformer && { transformer }) };
  return createTRPCUntypedClient({ links: [httpBatchLink(link as never)] });
}

/** Collects the events of a subscription over a WebSocket, and its error. */
async function events({ origin }: Running, path: string, input?: unknown): Promise<readonly unknown[]> {
  const client = createWSClient({ url: `${origin.replace('http', 'ws')}/trpc` });
  onTestFinished(() => client.close());
  const received: unknown[] = [];
  await new Promise<void>((resolve) => {
    createTRPCUntypedClient({ links: [wsLink({ client })] }).subscription(path, input, {
      onData: (data) => received.push(data),
      onError({ message }) {
        received.push(message);
        resolve();
      },
      onComplete: resolve,
    });
  });
  return received;
}

const oldRevision = { revision: '2025-11-25' } as const;
const serverOf = ({ origin }: Running) => ({ origin, fetch });

async function textOf(
  running: Running,
  name: string,
  args: Readonly<Record<string, unknown>>,
  headers: Readonly<Record<string, string>> = {},
): Promise<string> {
  const { content } = await callTool(serverOf(running), name, args, { ...oldRevision, headers });
  return content[0]?.text ?? '';
}

/** Returns the paths of the procedures that the document has, by their operation id. */
async function documented({ origin }: Running): Promise<readonly string[]> {
  const document = (await (await fetch(`${origin}/openapi.json`)).json()) as {
    readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly operationId: string }>>>>;
  };
  return Object.values(document.paths)
    .flatMap((path) => Object.values(path))
    .map(({ operationId }) => operationId.replaceAll('-', '.'));
}

/** Reads the numbers that the report has of a protocol. */
const countIn = ({ report }: Running, protocol: string) =>
  Number(new RegExp(`^ {2}${protocol} .*?(\\d+) \\w+`, 'm').exec(report)?.[1]);

/** Reads the procedures that the report says are left out of a protocol. */
function leftOutIn({ report }: Running, protocol: string): readonly string[] {
  const [, section = ''] =
    new RegExp(`^Left out of ${protocol}, .*\\n((?: {2}- .*\\n)+)`, 'm').exec(report) ?? [];
  const lines = [...section.matchAll(/^ {2}- (?:\d+: )?([\w., ]+): /gm)];
  return [...new Set(lines.flatMap(([, names = '']) => names.split(', ')))];
}

const ada = { authorization: 'Bearer ada' };
const date = '1970-01-01T00:00:00.000Z';

interface Shape {
  readonly shape: string;
  readonly args: readonly string[];
  readonly procedures: readonly string[];
  /** Those that only tRPC serves, as the report says. */
  readonly notRest?: readonly string[];
  readonly notTools?: readonly string[];
  readonly says: readonly RegExp[];
  readonly check: (running: Running) => Promise<void>;
}

const rows: readonly Shape[] = [
  {
    shape: 'kanban',
    args: ['src/server/root.ts', '--context', 'src/server/trpc.ts', '--tools'],
    procedures: ['board.all', 'board.byId', 'board.bySlug', 'board.rename', 'board.own'],
    notRest: ['board.own', 'board.bySlug'],
    says: [
      /board\.bySlug: "board\.byId" is served at GET \/boards\/\{publicId\}, .* or enabled: false\.$/m,
      /differs over REST from trpc-to-openapi .*\n.*migrating\/from-trpc-to-openapi\.md there, "Differences that remain"\.$/m,
    ],
    async check(running) {
      const { origin } = running;
      const board = { publicId: '7', name: 'Board 7', createdAt: date };
      expect(await rest(origin, '/Boards/7/')).toEqual([200, board]);
      expect(await rest(origin, '/boards?limit=3')).toMatchObject([401, { code: 'UNAUTHORIZED' }]);
      expect(await rest(origin, '/boards?limit=3', { headers: ada })).toMatchObject([
        200,
        [{ name: 'Board 3' }],
      ]);
      // The shape of the router's errorFormatter, as in trpc-to-openapi.
      expect(await rest(origin, '/boards?limit=99', { headers: ada })).toMatchObject([
        400,
        { message: 'Input validation failed', data: { zodError: 1 } },
      ]);
      expect(
        await rest(origin, '/boards/7', { method: 'PUT', body: { name: 'Home', at: date }, headers: ada }),
      ).toMatchObject([200, { name: 'Home of Ada' }]);
      const client = trpc(running, ada, superjson);
      expect(await client.query('board.byId', { publicId: '7' })).toEqual({
        ...board,
        createdAt: new Date(0),
      });
      expect(await client.query('board.own')).toEqual({ user: 'Ada' });
      expect(await textOf(running, 'board_own', {}, ada)).toBe('{"user":"Ada"}');
    },
  },
  {
    shape: 'observability',
    args: ['src/server/root.ts', '--context', 'src/server/trpc.ts'],
    procedures: ['traces.all', 'traces.annotate', 'traces.counts', 'scores.create'],
    says: [
      /They send JSON, without the router’s transformer: a date is text, a Map is \{\}, a bigint is an error\.$/m,
    ],
    async check(running) {
      const cookie = { cookie: 'session-token=ada' };
      const { origin } = running;
      expect(await rest(origin, '/traces/all?projectId=p1&page=2', { headers: cookie })).toEqual([
        200,
        { traces: [{ id: 't2', at: date }], user: 'ada' },
      ]);
      expect(await rest(origin, '/traces/all?projectId=p1')).toMatchObject([401, {}]);
      expect(await rest(origin, '/traces/all?projectId=p2', { headers: cookie })).toMatchObject([403, {}]);
      expect(await rest(origin, '/traces/counts?projectId=p1', { headers: cookie })).toEqual([200, {}]);
      const metadata = { a: [1, { b: null }] };
      const body = { projectId: 'p1', metadata };
      expect(await rest(origin, '/traces/annotate', { body, headers: cookie })).toEqual([200, metadata]);
      const client = trpc(running, cookie, superjson);
      expect(await client.query('traces.counts', { projectId: 'p1' })).toEqual(new Map([['t0', 1n]]));
      await expect(client.query('traces.all', { projectId: 'p2' })).rejects.toThrow('No such project');
      const score = { projectId: 'p1', dataType: 'NUMERIC', value: 1 };
      expect(await textOf(running, 'scores_create', score, cookie)).toBe('NUMERIC');
      // createContext of the code base has renewed it on `res`.
      const { headers } = await fetch(`${origin}/v1/traces/all?projectId=p1`, { headers: cookie });
      expect(headers.getSetCookie()).toEqual(['session-token=ada2', 'seen=1']);
    },
  },
  {
    shape: 'hostService',
    args: ['router.ts'],
    procedures: ['git.status', 'git.clone', 'git.blame', 'health', 'restart', 'tag'],
    notRest: ['tag'],
    notTools: ['tag'],
    says: [
      /^ {2}- tag: in its input, "tags" is a set.*\n {2}- tag: in its input, "size" is a bigint/m,
      /Without --context, the context of procedures is \{\}\.$/m,
      /6 of 6 procedures have no output schema \(\.output\): the document and the tools have no types/m,
    ],
    async check(running) {
      const { origin } = running;
      expect(await rest(origin, '/git/status', { body: 'main' })).toEqual([200, 'main is clean (1000 ms)']);
      expect(await rest(origin, '/git/clone', { body: { url: 'a' } })).toEqual([
        200,
        { url: 'a', timeoutMs: 60_000 },
      ]);
      expect(await rest(origin, '/restart', { method: 'POST' })).toEqual([204, '']);
      expect(await textOf(running, 'git_status', { input: 'main' })).toBe('main is clean (1000 ms)');
      const error = await trpc(running, {}, superjson)
        .query('git.blame')
        .catch((cause: unknown) => cause);
      expect(error).toBeInstanceOf(TRPCClientError);
      expect(error).toMatchObject({ data: { code: 'PRECONDITION_FAILED', cause: 'RangeError' } });
    },
  },
  {
    shape: 'dashboard',
    args: ['src/root.ts', '--context', 'src/trpc.ts'],
    procedures: ['info', 'who', 'app.all', 'app.search', 'app.remove', 'app.selectable', 'app.icons.all'],
    notRest: ['app.selectable', 'app.remove'],
    notTools: ['info', 'who', 'app.selectable', 'app.remove'],
    says: ['openapi', 'mcp'].map((name) =>
      RegExp(`app\\.remove: switched off in its metadata \\(${name}\\)$`, 'm'),
    ),
    async check(running) {
      const { origin } = running;
      expect(await rest(origin, '/info')).toEqual([200, { version: '1.9.0', path: '/v1/info' }]);
      expect(await rest(origin, '/apps', { headers: { apikey: 'k' } })).toEqual([
        200,
        [{ id: 'k', href: null }],
      ]);
      expect(await rest(origin, '/apps/search?query=&limit=3')).toEqual([200, [{ id: '', href: '3' }]]);
      const { headers } = await fetch(`${origin}/v1/apps`);
      expect(headers.get('x-home')).toBe('1');
      const sent = { headers: { ...ada, 'x-forwarded-for': '10.0.0.1' } };
      const response = await fetch(`${origin}/v1/who?page=2`, sent);
      const who = { user: 'ada', address: '10.0.0.1', host: '127.0.0.1', page: '2' };
      expect(await response.json()).toMatchObject(who);
      expect(response.headers.getSetCookie()).toEqual(['seen=1']);
      expect(await rest(origin, '/icons')).toEqual([200, ['home.svg']]);
      expect(await textOf(running, 'app_search', { query: 'a' })).toContain('"id":"a"');
      expect(await trpc(running, {}, superjson).query('app.selectable')).toEqual([]);
    },
  },
  {
    shape: 'chat',
    args: chatArgs,
    procedures: [
      'post.add',
      'post.attach',
      'post.list',
      'post.onType',
      'post.onBan',
      'post.onAdd',
      'post.onPin',
      'whoami',
    ],
    notRest: ['post.onType', 'post.onBan', 'post.onAdd', 'post.onPin', 'post.add'],
    notTools: ['post.add', 'post.attach'],
    says: [
      /post\.add: it requires scopes, but no authentication scheme returns the scopes of an identity\.$/m,
      /^ {2}- 4: post\.onType, post\.onBan, post\.onAdd, post\.onPin: a subscription, and REST needs the schema of its events/m,
    ],
    async check(running) {
      expect(await rest(running.origin, '/whoami')).toEqual([200, '127.0.0.1']);
      const form = new FormData();
      form.set('file', 'abc');
      expect(await rest(running.origin, '/post/attach', { body: form })).toEqual([200, ['file']]);
      expect(await rest(running.origin, '/post/list?take=1')).toEqual([200, [{ id: 1, text: 'Hello' }]]);
      const newest = [{ id: 2, text: 'Bye' }];
      expect(await rest(running.origin, '/post/list?take=1&order=newest')).toEqual([200, newest]);
      // The middleware of the code base still reads its metadata.
      await expect(trpc(running).mutation('post.add', { text: 'a' })).rejects.toThrow('FORBIDDEN');
      expect(await trpc(running, { 'x-name': 'Ada' }).mutation('post.add', { text: 'a' })).toBe('Ada: a');
      const bye = { id: '2', data: { id: 2, text: 'Bye' } };
      expect(await events(running, 'post.onAdd')).toEqual([{ id: '1', data: { id: 1, text: 'Hello' } }, bye]);
      expect(await events(running, 'post.onAdd', { lastEventId: 1 })).toEqual([bye]);
      expect(await events(running, 'post.onType', { name: 'Ada' })).toEqual(['Ada types']);
      // The message of the Error is hidden, as the report says.
      expect(await events(running, 'post.onBan')).toEqual(['warned', 'Internal server error']);
      expect(await textOf(running, 'post_onAdd', {})).toBe('{"id":2,"text":"Bye"}');
    },
  },
];

describe('trpc-gateway serve', () => {
  const started = new Map<string, Running>();
  // All at once: most of their time, they compile.
  beforeAll(async () => {
    await Promise.all(
      rows.map(async ({ args, shape }) =>
        started.set(shape, await serveShape(shape, [...args, '--no-types'])),
      ),
    );
  });
  afterAll(() => {
    for (const child of children) child.kill('SIGKILL');
  });
  const runningOf = (shape: string) => {
    const running = started.get(shape);
    if (running === undefined) throw new Error(`There is no shape ${shape}.`);
    return running;
  };

  it.each(rows)(
    'trpc-gateway serve serves the code base $shape without a change, and its report is true',
    async ({ args, check, notRest = [], notTools = [], procedures, says, shape }) => {
      const running = runningOf(shape);
      for (const line of says) expect(running.report).toMatch(line);
      expect(running.report).toContain(
        `Serving ${args[0]}. For looking, moving and demonstrations, not for production.`,
      );

      expect(leftOutIn(running, 'REST').toSorted()).toEqual(notRest.toSorted());
      expect(leftOutIn(running, 'MCP').toSorted()).toEqual(notTools.toSorted());
      const restOnes = procedures.filter((path) => !notRest.includes(path));
      const toolOnes = procedures.filter((path) => !notTools.includes(path));
      expect((await documented(running)).toSorted()).toEqual(restOnes.toSorted());
      const names = toolOnes.map((path) => path.replaceAll('.', '_'));
      const tools = await listTools(serverOf(running));
      expect(tools.map(({ name }) => name).toSorted()).toEqual(names.toSorted());
      expect(['tRPC', 'REST', 'MCP'].map((protocol) => countIn(running, protocol))).toEqual([
        procedures.length,
        restOnes.length,
        toolOnes.length,
      ]);
      const docs = await fetch(`${running.origin}/docs`);
      expect([docs.status, docs.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
      await check(running);
    },
  );

  const post = { method: 'POST', headers: { 'content-type': 'application/json' } };
  const upgrade = { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' };
  const requests: [what: string, path: string, options: RequestOptions][] = [
    ['a query', '/trpc/health', {}],
    ['a form over tRPC', '/trpc/restart', { method: 'POST', headers: { 'content-type': 'text/plain' } }],
    ['a mutation', '/trpc/restart', post],
    ['a POST without a body over REST', '/v1/restart', { method: 'POST' }],
    ['the tools', '/mcp', post],
    ['the document', '/openapi.json', {}],
    ['a WebSocket', '/trpc', { headers: { ...upgrade, 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==' } }],
  ];
  it.each(requests)(
    'trpc-gateway serve rejects %s of a page of another site with 403',
    async (_what, path, options) => {
      const { origin } = runningOf('hostService');
      const sendAs = (headers: Readonly<Record<string, string>>) => sendRaw(origin + path, options, headers);
      const { host } = new URL(origin);
      for (const headers of [
        { host: 'evil.example' },
        { host: 'evil.example', origin: 'http://evil.example' },
        { host, origin: 'https://evil.example' },
        { host, origin: 'null' },
        { host: 'localhost.evil.example' },
      ]) {
        const [status, body] = await sendAs(headers);
        expect({ headers, status, body }).toMatchObject({
          status: 403,
          body: expect.stringMatching(/must be localhost|not allowed to call tools/),
        });
      }
      for (const name of ['localhost', '127.0.0.1', '127.1.2.3:81', '[::1]:3000']) {
        const [status] = await sendAs({ host: name, origin: `http://${name}` });
        expect([name, status]).not.toEqual([name, 403]);
      }
    },
  );

  /** Serves a shape. Resolves with what is printed before the types of its outputs are read, and after. */
  async function serveWithTypes(shape: string, ...args: readonly string[]) {
    const { errors, origin, report } = await serveShape(shape, args, '\nNow:\n');
    const [before = '', after = ''] = report.split(
      /^Outputs have the schemas of their types, read in [\d.]+ s/m,
    );
    return { before, after, errors, origin };
  }

  it('trpc-gateway serve describes outputs without a schema by their types, which trpc-gateway-typegen reads meanwhile, and then serves events over REST', async () => {
    const { before, after, errors, origin } = await serveWithTypes('chat', ...chatArgs);
    expect(before).toMatch(
      /7 of 8 procedures have no output schema \(\.output\): their types are being read\.$/m,
    );
    // The lines that have changed: only the subscription with a schema of its iterable is left out.
    expect(after).toMatch(
      /^\.\n\nNow:\n {2}REST {5}\/v1 +6 operations\n {2}- post\.onPin: a subscription, .*\n$/,
    );
    expect(errors.match(/a model chooses a tool by its description/g)).toHaveLength(1);
    const { paths } = (await (await fetch(`${origin}/openapi.json`)).json()) as OpenApiDocument;
    const content = (path: string) => paths[path]?.['get']?.responses['200']?.content;
    expect(content('/post/list')?.['application/json']?.schema).toMatchObject({ 'x-inferred': true });
    expect(content('/post/onType')?.['text/event-stream']?.schema).toMatchObject({ type: 'string' });
    const response = await fetch(`${origin}/v1/post/onType?name=Ada`);
    expect(await response.text()).toContain('data: "Ada types"');
  });

  it('trpc-gateway serve --tools prints the whole table of tokens again if the types of outputs change a row', async () => {
    const { after } = await serveWithTypes('hostService', 'router.ts', '--tools');
    expect(after).toMatch(
      /^\.\n\nNow:\n\nTokens of .*\n {2}tool .* in all\n(?: {2}.*\n){5} {2}all [ \d]+\n$/,
    );
  });

  it('docs/serve-command.md shows what the command prints for a code base', async () => {
    const page = await readFile(pageUrl, 'utf8');
    const [, block = ''] = /^```console\n\$ npx --no trpc-gateway serve .*\n([^]*?)^```$/m.exec(page) ?? [];
    const linesOf = (text: string) => text.split('\n').map((line) => line.replaceAll(/\s+/g, ' '));
    const shown = linesOf(block.replaceAll('http://127.0.0.1:3000', ''));
    expect(shown.length).toBeGreaterThan(8);
    expect(linesOf(runningOf('kanban').report)).toEqual(expect.arrayContaining(shown));
  });

  it('trpc-gateway serve prints the estimated tokens of each tool with --tools alone, the largest first', async () => {
    const running = runningOf('kanban');
    const tools = await listTools(serverOf(running));
    const tokens = (value: unknown) =>
      value === undefined ? 0 : Math.ceil(JSON.stringify(value).length / 4);
    const costs = tools.map((each) => {
      const { name, description, inputSchema, outputSchema } = each;
      return [name, ...[description, inputSchema, outputSchema, each].map(tokens)].join(' ');
    });
    const [, table = ''] =
      /^Tokens of .* by 4 characters of JSON each:\n.*\n([^]*?)^ {2}all /m.exec(running.report) ?? [];
    const printed = table
      .trim()
      .split(/\s*\n\s*/)
      .map((row) => row.replaceAll(/ +/g, ' '));
    expect(printed.toSorted()).toEqual(costs.toSorted());
    const totals = printed.map((row) => Number(row.split(' ').at(-1)));
    expect(totals).toEqual(totals.toSorted((one, other) => other - one));
    const page = await readFile(pageUrl, 'utf8');
    expect(page).toContain(table);
    expect(runningOf('dashboard').report).not.toContain('Tokens of');
  });

  it('on a Node that opens no WebSockets, the report of trpc-gateway serve says so', async () => {
    // As in Node 24.8: `createServer` sets it on each server.
    const older = `import{Server}from'node:http';Object.defineProperty(Server.prototype,'shouldUpgradeCallback',{set(){}})`;
    const { report } = await serveShape('kanban', ['src/server/root.ts', '--no-types'], undefined, {
      NODE_OPTIONS: `--import=data:text/javascript,${older}`,
    });
    expect(report).toMatch(/ {2}\d+ procedures, not over WebSockets\n/);
  });

  it('what the report of trpc-gateway serve says of tRPC is true', async () => {
    const { origin, report } = runningOf('hostService');
    expect(report).toContain('A body has at most 1 MiB');
    const clone = (bytes: number) => {
      const url = 'x'.repeat(bytes - '{"json":{"url":""}}'.length);
      const body = JSON.stringify({ json: { url } });
      const headers = { 'content-type': 'application/json' };
      return fetch(`${origin}/trpc/git.clone`, { method: 'POST', headers, body });
    };
    expect([(await clone(2 ** 20)).status, (await clone(2 ** 20 + 1)).status]).toEqual([200, 413]);
  });
});

const mistakes: readonly (readonly [what: string, args: readonly string[], code: number, error: RegExp])[] = [
  ['no file', [], 2, /^Usage: trpc-gateway serve FILE/],
  ['an unknown option', ['src/root.ts', '--contxt', 'a.ts'], 2, /^Unknown option '--contxt'.*\n\nUsage: /],
  ['a missing file', ['routr.ts'], 1, /^routr\.ts does not exist\. Name the module by its path\.\n$/],
  [
    'a missing context',
    ['src/root.ts', '--context', 'package.json'],
    1,
    /^package\.json exports no function createContext\. Name the module that exports it\.\n$/,
  ],
  [
    'another function of the context',
    ['src/root.ts', '--context', 'src/trpc.ts', '--context-export', 'create'],
    1,
    /^src\/trpc\.ts exports no function create\. Choose one of createContext with --context-export\.\n$/,
  ],
  [
    'another router',
    ['src/root.ts', '--export', 'router'],
    1,
    /^src\/root\.ts exports no tRPC router named router\. Choose one of appRouter with --export\.\n$/,
  ],
  [
    'a port that is none',
    ['src/root.ts', '--port', '3000a'],
    1,
    /^--port is 3000a; it must be an integer from 0 to 65535\.\n$/,
  ],
  [
    'a missing file of variables',
    ['src/root.ts', '--env', '.env'],
    1,
    /^\.env cannot be read: .* Correct --env\.\n$/,
  ],
];

describe('mistakes in the arguments of trpc-gateway serve', () => {
  const ends = new Map<string, readonly unknown[]>();
  beforeAll(async () => {
    await Promise.all(
      mistakes.map(async ([what, args]) => ends.set(what, await fail(join(shapes, 'dashboard'), ...args))),
    );
  });

  it.each(mistakes)('trpc-gateway serve with %s names the fix', (what, _args, code, error) => {
    expect(ends.get(what)).toEqual([code, expect.stringMatching(error)]);
  });
});

it('npx trpc-gateway serve ends after a signal to npx, of which npm ends only the shell between them', async () => {
  const command = [process.execPath, '--conditions=trpc-gateway-source', program];
  const shell = startProcess(
    'sh',
    ['-c', '"$0" "$@"; exit', ...command, 'serve', 'src/root.ts', '--port', '0'],
    {
      cwd: join(shapes, 'dashboard'),
      env: { PATH: process.env['PATH'], npm_command: 'exec' },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  shell.stdout?.once('data', () => shell.kill('SIGTERM'));
  // The end of both, since both have its output.
  await once(shell, 'close');
  expect(shell.signalCode).toBe('SIGTERM');
});

it('the usage of trpc-gateway names every option of serve', async () => {
  const source = await readFile(new URL('../../src/command/serveCommand.ts', import.meta.url), 'utf8');
  const usage = await readFile(new URL('../../src/command/usage.ts', import.meta.url), 'utf8');
  const options = [...source.matchAll(/^ {6}'?([\w-]+)'?: \{ type/gm)].map(([, name]) => `--${name}`);
  expect(options.length).toBeGreaterThan(4);
  expect(options.filter((option) => !usage.includes(option))).toEqual([]);
});
