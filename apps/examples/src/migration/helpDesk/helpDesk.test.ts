import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { freePort } from '@petstore/testing/freePort';
import { TRPC_ERROR_CODES_BY_KEY } from '@trpc/server/rpc';
import { beforeAll, expect, it } from 'vitest';
import type { AppError } from './appError.ts';
import { type Received, useHelpDesk } from './client.ts';
import { appRouter } from './router.ts';
import { startOnPort } from '../../startOnPort.ts';

/**
 * Uses the help desk on a server, in a process of its own: trpc-to-openapi changes the schemas of the router that it serves.
 */
async function use(server: 'onTrpcToOpenApi' | 'onGateway'): Promise<Received> {
  const port = await freePort();
  const program = fileURLToPath(new URL(`${server}.ts`, import.meta.url));
  const stop = await startOnPort(port, [process.execPath, '--conditions=trpc-gateway-source', program]);
  try {
    return await useHelpDesk(`http://127.0.0.1:${port}`);
  } finally {
    await stop('SIGKILL');
  }
}

let before: Received;
let after: Received;
beforeAll(async () => {
  [before, after] = await Promise.all([use('onTrpcToOpenApi'), use('onGateway')]);
});

it('the document of the gateway is that of trpc-to-openapi, to the byte', () => {
  expect(after['document']).toBe(before['document']);
});

it('the client calls each procedure of the help desk over tRPC', () => {
  expect(Object.keys(before)).toEqual(expect.arrayContaining(Object.keys(appRouter._def.procedures)));
});

const missing = 'an issue of a missing value is that of zod; trpc-to-openapi converts `undefined`';
const wording = 'the message is the gateway’s';

/** A result of the client: the statuses before and after, the code and the issues after, and why they differ. */
type Difference = readonly [before: number, after: number, problem: string, why: string];

const differences: Readonly<Record<string, Difference>> = {
  'PUT /tickets/1 {"subject":"","priority":"high"}': [400, 400, 'BAD_REQUEST subject due', missing],
  'GET /nothing': [404, 404, 'NOT_FOUND', wording],
  'POST /tickets/1 {}': [404, 405, 'METHOD_NOT_SUPPORTED', 'the path has another method (RFC 9110 §15.5.6)'],
  'text for JSON': [415, 415, 'UNSUPPORTED_MEDIA_TYPE', wording],
  'no content type': [415, 404, 'NOT_FOUND', 'the operation has no body, so it needs no content type'],
};

/** Returns the code of an error and the paths of its issues, over REST or tRPC; `''` for a success. */
function problemOf({ body, shape, message = '' }: ReceivedError): string {
  const code = (body ?? shape)?.data?.code;
  if (code === undefined) return '';
  const issues = shape ? (JSON.parse(message) as ReceivedIssues) : (body?.issues ?? []);
  return [code, ...issues.map(({ path }) => path.join('.'))].join(' ');
}

type ReceivedIssues = readonly { readonly path: readonly string[] }[];

interface ReceivedError {
  readonly status: number;
  readonly message?: string;
  readonly body?: { readonly data?: { readonly code?: string }; readonly issues?: ReceivedIssues };
  readonly shape?: { readonly data: { readonly code: string } };
}

it('the client of the help desk receives the same results, statuses and errors from the gateway, except for known errors', () => {
  expect(Object.keys(after)).toEqual(Object.keys(before));
  const changed = Object.keys(before).filter(
    (name) => !isDeepStrictEqual(after[name], withOwnCode(before[name])),
  );
  expect(changed).toEqual(Object.keys(differences));
  for (const [name, [statusBefore, statusAfter, problem]] of Object.entries(differences)) {
    const is = after[name] as ReceivedError;
    expect([name, before[name], is.status, problemOf(is)]).toEqual([
      name,
      expect.objectContaining({ status: statusBefore }),
      statusAfter,
      problem,
    ]);
  }
});

/**
 * Replaces the code of an `AppError`: `mapError` gives it one of its own, where the `responseMeta` of before changed only
 * the status.
 */
function withOwnCode(received: unknown): unknown {
  const { body, shape } = received as Record<'body' | 'shape', AppErrorShape | undefined>;
  const { appError } = (body ?? shape)?.data ?? {};
  if (!appError) return received;
  if (shape)
    return { ...(received as object), shape: { ...shape, code: TRPC_ERROR_CODES_BY_KEY[appError.code] } };
  return { ...(received as object), body: { ...body, code: appError.code } };
}

interface AppErrorShape {
  readonly data?: { readonly appError?: { readonly code: AppError['code'] } | null };
}
