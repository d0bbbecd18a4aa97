import { initTRPC } from '@trpc/server';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { RequestRecord } from '../../calls/requestRecord.ts';
import { createGateway } from '../../gateway.ts';
import type { ErrorFormat } from '../../operations/errorFormat.ts';
import { trpcToOpenApi, trpcToOpenApiErrors } from '../../trpcToOpenApi/trpcToOpenApi.ts';
import { adapters, dial, get } from './testing/dial.ts';

// An `errorFormatter` has no path, context and input for a request that no procedure handles, and may not expect that.

const broken = new TypeError('The error formatter reads the context of a request that has none.');
const t = initTRPC.context<{ readonly language: string }>().create({
  errorFormatter: ({ shape, ctx }) => {
    if (!ctx) throw broken;
    return { ...shape, message: `${ctx.language}: ${shape.message}` };
  },
});
const router = t.router({ greet: t.procedure.query(() => 'hello') });
const throwingFormat: ErrorFormat = {
  contentType: 'application/json',
  schema: z.object({}),
  body: () => {
    throw broken;
  },
};

async function startGateway(errorFormat: ErrorFormat = trpcToOpenApiErrors) {
  const records: RequestRecord[] = [];
  const gateway = await createGateway({
    ...trpcToOpenApi({ title: 'Greetings', version: '1.0.0' }),
    router,
    createContext: () => ({ language: 'en' }),
    onResponse: (record) => void records.push(record),
    errorFormat,
  });
  return { gateway, records };
}

const invalidHost = 'GET /v1/greet HTTP/1.1\r\nHost: x/y\r\n\r\n';
const twoLengths =
  'POST /v1/greet HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n';
const badKey =
  'GET /trpc HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n' +
  'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: short\r\n\r\n';

/** Sends a request to a port, and returns the status and the body of its response. */
async function exchange(port: number, request: string) {
  const { socket, text, closed } = await dial({ port }, request);
  socket.end();
  await closed;
  const [head = '', body = ''] = text().split('\r\n\r\n');
  return [Number(head.slice('HTTP/1.1 '.length, 'HTTP/1.1 200'.length)), JSON.parse(body)] as const;
}

describe.each(adapters)('$adapter', ({ adapter, listen }) => {
  it.each<[what: string, request: string, status: number, code: string]>([
    ['a request with an invalid host', invalidHost, 400, 'BAD_REQUEST'],
    ['a request at an unknown path', get('/v1/unknown'), 404, 'NOT_FOUND'],
    // uWebSockets.js closes these connections itself.
    ...(adapter === 'node:http'
      ? ([
          ['a request that the parser of Node rejects', twoLengths, 400, 'BAD_REQUEST'],
          ['a WebSocket with a malformed key', badKey, 400, 'BAD_REQUEST'],
        ] satisfies [string, string, number, string][])
      : []),
  ])(
    '%s keeps its status if the errorFormatter throws, and the next one is served',
    async (_what, request, status, code) => {
      const { gateway, records } = await startGateway();
      const { port } = await listen(gateway);
      const [received, body] = await exchange(port, request);
      // A rejection at the path of tRPC is in its format.
      const { data, message } = body.error ?? body;
      expect([received, message, data]).toEqual([status, expect.any(String), { code, httpStatus: status }]);
      expect(records.at(-1)).toMatchObject({ status, error: broken });
      expect(await exchange(port, get('/trpc/greet'))).toEqual([200, { result: { data: 'hello' } }]);
    },
  );

  it('a malformed request gets 500 in the default format if the errorFormat throws', async () => {
    const { gateway, records } = await startGateway(throwingFormat);
    const { port } = await listen(gateway);
    const body = { code: 'INTERNAL_SERVER_ERROR', message: 'Internal server error', status: 500 };
    expect(await exchange(port, invalidHost)).toEqual([500, body]);
    expect(records).toMatchObject([{ status: 500, error: broken }]);
  });
});
