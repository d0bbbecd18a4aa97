import { changedHeaders } from '@petstore/testing/olderTrpc';
import { expect, it } from 'vitest';
import { skipIfDifferent } from '../adapterDifferences.ts';
import { sendOnce } from '../client.ts';
import { startService } from '../startService.ts';
import { rows, type Row } from './bytes.ts';
import { serveGateway } from './gatewayServer.ts';
import { serveOfficial } from './officialServer.ts';
import { startWith, type Running } from './start.ts';

// The gateway answers as tRPC's standalone adapter does. Each row is sent to both servers over a port as the same bytes. It
// has what adapters read or write: `sameResponses.test.ts` beside the protocol compares the rest in process.

/** Headers of a server or a connection, which are not compared, and those that versions of tRPC differ in. */
const serverHeaders = new Set([
  'connection',
  'content-length',
  'date',
  'keep-alive',
  'transfer-encoding',
  'uwebsockets',
  'x-request-id',
  ...changedHeaders,
]);

async function send({ server }: Running, { method, target, headers = [], body }: Row) {
  const bytes = body === undefined ? undefined : Buffer.from(body);
  const response = await sendOnce(server, method, `/trpc${target}`, headers, bytes);
  return {
    status: response.status,
    headers: Object.fromEntries(response.headers.filter(([name]) => !serverHeaders.has(name))),
    body: response.body.toString('latin1'),
  };
}

const startOfficial = startWith(serveOfficial);
const startGateway = startWith(serveGateway);

it.each(rows)('the gateway answers as tRPC’s standalone adapter: $name', async (row) => {
  if (row.name === 'a mutation whose Content-Type is sent twice') {
    skipIfDifferent('a Content-Type that is sent twice');
  }
  const { maxBodySize = 1_048_576 } = row;
  const [official, gateway] = await Promise.all([
    startOfficial({ maxBodySize }),
    startGateway({ maxBodySize }),
  ]);
  expect(await send(gateway, row)).toEqual(await send(official, row));
});

// docs/gateway/trpc.md#what-differs-from-trpcs-own-adapters
it.each(['/trpc/list', '/trpc/list,broken?batch=1'])(
  'GET %s without a credential is answered with 401 and one unbatched envelope, because the gateway checks the credential first',
  async (target) => {
    const { send: sendTo } = await startService();
    const response = await sendTo(target, { headers: { authorization: '' } });
    expect([response.status, response.headers.get('www-authenticate')]).toEqual([401, 'Bearer realm="api"']);
    expect(await response.json()).toMatchObject({
      error: { code: -32001, data: { code: 'UNAUTHORIZED', httpStatus: 401 } },
    });
  },
);
