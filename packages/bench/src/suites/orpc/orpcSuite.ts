import { fileURLToPath } from 'node:url';
import { type Case, type CaseRequest, oneRequest, type OwnRequest } from '../../cases.ts';
import { contender, lacking, node } from '../../contenders.ts';
import { gatewayOnEach, type Suite } from '../suite.ts';

// What oRPC's suite measures (github.com/middleapi/orpc-benchmarks): one query of six procedures, over RPC, REST and a
// WebSocket, on 10 connections with one call open on each.

const at = (file: string) => fileURLToPath(new URL(file, import.meta.url));
const get = (path: string): CaseRequest => ({ method: 'GET', path, headers: {} });
const encoded = (value: unknown) => encodeURIComponent(JSON.stringify(value));
const ok = (body: unknown) => ({
  status: 200,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
});

/** The result of a call, whose time the comparison leaves out. */
const resultOf = (input: unknown) => ({
  name: 'nested/procedure_1',
  date: '2026-01-01T00:00:00.000Z',
  input,
});
const result = resultOf('hello world');
const connections = 10;

const restPath = '/v1/nested/procedure_1?who=hello%20world';
const trpcPath = `/trpc/nested.procedure_1?input=${encoded({ json: 'hello world' })}`;
const trpcData = { json: result, meta: { values: { date: ['Date'] }, v: 1 } };
const orpcBody = { json: result, meta: [['date', 'date']] };

const cases: readonly Case[] = [
  {
    ...oneRequest,
    name: 'rpc',
    title: 'RPC query',
    connections,
    request: get(trpcPath),
    expected: ok({ result: { data: trpcData } }),
  },
  {
    ...oneRequest,
    name: 'rest',
    title: 'REST GET',
    connections,
    request: get(restPath),
    expected: ok(resultOf({ who: 'hello world' })),
  },
  {
    kind: 'socket',
    name: 'call',
    title: 'WebSocket call',
    unit: 'calls',
    perRequest: 1,
    connections,
    callsOpen: 1,
    path: '/trpc',
    message: (id) =>
      JSON.stringify({
        id,
        method: 'query',
        params: { path: 'nested.procedure_1', input: { json: 'hello world' } },
      }),
    response: (id) => JSON.stringify({ id, result: { type: 'data', data: trpcData } }),
  },
];

/** The calls in oRPC's own protocol, as its client sends them. */
const orpcRequests: Readonly<Record<string, OwnRequest>> = {
  rpc: {
    request: get(`/rpc/nested/procedure_1?data=${encoded({ json: 'hello world' })}`),
    expected: ok(orpcBody),
  },
  call: {
    path: '/',
    message: (id) =>
      JSON.stringify({
        id: String(id),
        kind: 'request',
        json: {
          method: 'POST',
          url: '/nested/procedure_1',
          headers: {},
          bodyHint: 'json',
          body: { json: 'hello world' },
        },
      }),
    response: (id) =>
      JSON.stringify({
        id: String(id),
        kind: 'response',
        json: { status: 200, headers: {}, bodyHint: 'json', body: orpcBody },
      }),
  },
};

export const orpcSuite: Suite = {
  cases,
  contenders: [
    ...gatewayOnEach(at('gateway.ts'), restPath),
    contender({
      name: 'orpc',
      title: 'oRPC 2 beta on Node',
      command: node(at('orpc.ts')),
      readyPath: restPath,
      own: orpcRequests,
    }),
    contender({
      name: 'trpc',
      title: "tRPC's standalone and ws adapters",
      command: node(at('trpc.ts')),
      readyPath: trpcPath,
      lacks: lacking(['rest'], 'tRPC has no REST'),
    }),
    contender({
      name: 'hono',
      title: 'Hono on Node',
      command: node(at('hono.ts')),
      readyPath: restPath,
      lacks: lacking(['rpc', 'call'], 'Hono has no RPC of this kind'),
    }),
  ],
};
