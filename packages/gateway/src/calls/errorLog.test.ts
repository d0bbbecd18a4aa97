import { format } from 'node:util';
import { TRPCError } from '@trpc/server';
import { describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { isBodyStream } from '../http/response.ts';
import type { GatewayOptions } from '../assembly/options.ts';
import { inProcessRequest } from '../testing/inProcessRequest.ts';
import { t, testGateway } from '../testing/testGateway.ts';

const operation = (path: `/${string}`, error: () => unknown) =>
  t.procedure
    .meta({ openapi: { method: 'GET', path } })
    .output(z.string())
    .query(() => {
      throw error();
    });

const router = t.router({
  boom: operation('/boom', () => new Error('disk on fire')),
  wrapped: operation(
    '/wrapped',
    () =>
      new TRPCError({
        code: 'INTERNAL_SERVER_ERROR',
        message: 'No animals.',
        cause: new Error('disk on fire'),
      }),
  ),
  refused: operation(
    '/refused',
    () => new AggregateError([new Error('connect ::1'), Object.create(null)], 'No address answered.'),
  ),
  missing: operation('/missing', () => new TRPCError({ code: 'NOT_FOUND' })),
});

/** Sends a GET request and returns the lines that the gateway prints to stderr. */
async function printed(
  target: string,
  options: Partial<GatewayOptions<typeof router, unknown>> = {},
  headers: Readonly<Record<string, string>> = {},
): Promise<string[]> {
  const print = vi.spyOn(console, 'error').mockImplementation(() => {});
  const gateway = await testGateway(router, { ...options });
  const request = inProcessRequest('GET', target, { 'x-request-id': 'request-7', ...headers });
  const { body } = await gateway.handle(request);
  if (isBodyStream(body)) for await (const _chunk of body);
  const lines = print.mock.calls.map((values) => format(...values));
  print.mockReset();
  return lines;
}

/** Returns the first line about a route that throws. */
async function printedOf(path: `/${string}`, error = new Error('disk on fire')): Promise<string> {
  const route = () => {
    throw error;
  };
  const [line = ''] = await printed(path, { routes: { [path]: route } });
  return line;
}

describe('a gateway without onResponse, onError and trpc.onError', () => {
  it.each([
    ['/v1/boom', 'boom'],
    ['/trpc/boom', 'boom'],
    ['/trpc/boom,missing?batch=1', 'boom'],
  ])('GET %s logs an unexpected error once to stderr, with its stack', async (target, called) => {
    const [line = '', ...others] = await printed(target);
    expect(others).toEqual([]);
    const [path] = target.split('?');
    expect(line.split('\n').slice(0, 2)).toEqual([
      `GET ${path} failed unexpectedly (procedure ${called}, request request-7): Error: disk on fire`,
      expect.stringContaining('errorLog.test.ts'),
    ]);
    expect(line.split('disk on fire')).toHaveLength(2);
  });

  it('the errors of an AggregateError are logged after it, also those that are no text', async () => {
    const [line = ''] = await printed('/v1/refused');
    expect(line).toContain('AggregateError: No address answered.');
    expect(line).toContain('Cause: Error: connect ::1');
    expect(line).toContain('Cause: [object]');
  });

  it.each([undefined, 'application/jsonl'])(
    'a batch logs each unexpected error with its own procedure (trpc-accept: %s)',
    async (accept) => {
      const lines = await printed(
        '/trpc/boom,missing,wrapped?batch=1',
        {},
        accept === undefined ? {} : { 'trpc-accept': accept },
      );
      expect(lines.map((line) => line.split('\n')[0])).toEqual([
        'GET /trpc/boom,missing,wrapped failed unexpectedly (procedure boom, request request-7): Error: disk on fire',
        'GET /trpc/boom,missing,wrapped failed unexpectedly (procedure wrapped, request request-7): TRPCError: No animals.',
      ]);
    },
  );

  it('a batch logs an error of createContext once, with all procedures of the batch', async () => {
    const createContext = () => {
      throw new Error('no context');
    };
    const [line, ...others] = await printed('/trpc/boom,missing?batch=1', { createContext });
    expect(others).toEqual([]);
    expect(line).toContain(' (procedure boom,missing, request request-7): Error: no context\n');
  });

  it.each(['%c3%a9', '%d0%b0', '%s', '%j'])(
    'the log of a request to a path with %s has the path unchanged and the error',
    async (segment) => {
      expect(await printedOf(`/${segment}`)).toContain(
        `GET /${segment} failed unexpectedly (request request-7): Error: disk on fire\n`,
      );
    },
  );

  it('the log of an error leaves out its properties, which may be secrets', async () => {
    const cause = Object.assign(new Error('disk on fire'), { headers: { authorization: 'Bearer secret' } });
    const line = await printedOf('/page', new Error('No page.', { cause }));
    expect(line).toContain('\nCause: Error: disk on fire\n');
    expect(line).not.toContain('secret');
  });

  it.each(['/v1/missing', '/trpc/missing', '/nowhere', '/trpc/nowhere'])(
    'GET %s logs nothing, because it is a client error',
    async (target) => {
      expect(await printed(target)).toEqual([]);
    },
  );

  it('the log replaces control characters in a path, and cuts it after 256 characters', async () => {
    const line = await printedOf(`/\u001b[31m${'x'.repeat(5000)}`);
    expect(line).toContain(`GET /?[31m${'x'.repeat(250)}… failed`);
    const longest = `/${'x'.repeat(255)}` as const;
    expect(await printedOf(longest)).toContain(`GET ${longest} failed`);
  });
});
