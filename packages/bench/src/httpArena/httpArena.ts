import { fileURLToPath } from 'node:url';
import type { Case, CaseRequest } from '../cases.ts';
import { bun, type Contender, contender, node, type Suite } from '../contenders.ts';

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

const cases: readonly Case[] = [
  { name: 'baseline', title: '`baseline`', connections, requests: sums },
  { name: 'limited-conn', title: '`limited-conn`', connections, requests: closingSums },
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
