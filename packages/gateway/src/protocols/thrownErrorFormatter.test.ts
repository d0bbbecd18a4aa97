import { initTRPC } from '@trpc/server';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { headRejections } from '../adapters/serve/requestHead.ts';
import type { RequestRecord } from '../calls/requestRecord.ts';
import { createGateway, type Gateway } from '../gateway.ts';
import type { HttpResponse } from '../http/response.ts';
import type { ErrorFormat } from '../operations/errorFormat.ts';
import { inProcessRequest } from '../testing/inProcessRequest.ts';
import { trpcToOpenApi, trpcToOpenApiErrors } from '../trpcToOpenApi/trpcToOpenApi.ts';

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

const received = ({ status, body }: HttpResponse) => [status, JSON.parse(body as string)] as const;
const malformed = (path: string) => (gateway: Gateway) =>
  gateway.rejectHttp(inProcessRequest('GET', path), headRejections.host);

it.each<
  [what: string, send: (gateway: Gateway) => ReturnType<Gateway['handle']>, status: number, code: string]
>([
  ['a malformed request', malformed('/v1/greet'), 400, 'BAD_REQUEST'],
  ['a malformed request of tRPC', malformed('/trpc'), 400, 'BAD_REQUEST'],
  [
    'a request at an unknown path',
    (gateway) => gateway.handle(inProcessRequest('GET', '/v1/unknown')),
    404,
    'NOT_FOUND',
  ],
])('%s keeps its status if the errorFormatter throws', async (_what, send, status, code) => {
  const { gateway, records } = await startGateway();
  const [sent, body] = received(await send(gateway));
  // A rejection at the path of tRPC is in its format.
  const { data, message } = body.error ?? body;
  expect([sent, message, data]).toEqual([status, expect.any(String), { code, httpStatus: status }]);
  expect(records.at(-1)).toMatchObject({ status, error: broken });
});

it('a malformed request gets 500 in the default format if the errorFormat throws', async () => {
  const { gateway, records } = await startGateway(throwingFormat);
  const body = { code: 'INTERNAL_SERVER_ERROR', message: 'Internal server error', status: 500 };
  expect(received(malformed('/v1/greet')(gateway))).toEqual([500, body]);
  expect(records).toMatchObject([{ status: 500, error: broken }]);
});
