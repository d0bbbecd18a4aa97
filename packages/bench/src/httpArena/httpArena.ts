import { fileURLToPath } from 'node:url';
import { type Case, type CaseRequest } from '../cases.ts';
import { bun, type Contender, contender, node, type Suite } from '../contenders.ts';
import { pageOf } from './items.ts';

// The profiles of HttpArena (github.com/MDA2AV/HttpArena) that fit one core, HTTP/1.1 without TLS, and no database.

const at = (file: string) => fileURLToPath(new URL(file, import.meta.url));

/** HttpArena has 4,096 for 64 cores. */
const connections = 512;

const sumPath = '/baseline11?a=13&b=42';
const textOf = (body: string) => ({ status: 200, headers: { 'content-type': 'text/plain' }, body });
const get = (path: string): CaseRequest => ({ method: 'GET', path, headers: {} });
const post = (headers: CaseRequest['headers']): CaseRequest => ({
  method: 'POST',
  path: sumPath,
  headers: { 'content-type': 'text/plain', ...headers },
  body: '20',
});

/** Query parameters; these and a body with its length; these and a body in chunks. */
const sums = [
  { request: get(sumPath), expected: textOf('55') },
  { request: post({}), expected: textOf('75') },
  { request: post({ 'transfer-encoding': 'chunked' }), expected: textOf('75') },
] as const;

/** The same, of which every tenth request closes its connection. */
const closingSums = Array.from({ length: 30 }, (_, index) => {
  const { request, expected } = sums[index % 3] as (typeof sums)[number];
  const headers = { ...request.headers, ...(index % 10 === 9 && { connection: 'close' }) };
  return { request: { ...request, headers }, expected };
});

/** The counts of items, and what the sums are multiplied by. */
const pages = (
  [
    [1, 3],
    [5, 7],
    [10, 2],
    [15, 5],
    [25, 4],
    [40, 8],
    [50, 6],
  ] as const
).map(([count, m]) => ({
  request: get(`/json/${count}?m=${m}`),
  expected: {
    status: 200,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(pageOf(count, m)),
  },
}));

/** A case whose requests are sent in turn. */
function inTurn(
  named: Pick<Case, 'name' | 'title'>,
  [first, ...others]: readonly (typeof pages)[number][],
): Case {
  if (first === undefined) throw new Error(`The case ${named.name} has no request.`);
  return { ...named, connections, ...first, others };
}

const cases: readonly Case[] = [
  inTurn({ name: 'baseline', title: '`baseline`' }, sums),
  inTurn({ name: 'limited-conn', title: '`limited-conn`' }, closingSums),
  inTurn({ name: 'json', title: '`json`' }, pages),
];

/** A contender that is ready when it answers the first case. */
const one = (name: string, title: string, command: Contender['command'], fields?: Partial<Contender>) =>
  contender({ name, title, command, readyPath: sumPath, ...fields });
const onBun = { runtime: 'bun' } as const;
const gateway = at('gateway.ts');

export const httpArena: Suite = {
  cases,
  contenders: [
    one('gateway', 'this gateway on uWebSockets.js', node(gateway), { environment: { SERVER: 'uws' } }),
    one('gateway-node', 'this gateway on node:http', node(gateway), { environment: { SERVER: 'node' } }),
    one('gateway-bun', 'this gateway on Bun', bun(gateway), { ...onBun, environment: { SERVER: 'bun' } }),
    one('fastify', 'Fastify', node(at('fastify.ts'))),
    one('hono', 'Hono on Node', node(at('hono.ts'))),
    one('elysia', 'Elysia on Bun', bun(at('elysia.ts')), onBun),
  ],
};
