import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { expect, it } from 'vitest';
import { needs } from '../servers.ts';
import { startService, validKey } from '../startService.ts';

it.each([
  [{ 'content-type': 'application/json' }, 200],
  [{ 'content-type': 'Application/JSON; Charset="UTF-8"' }, 200],
  [{ 'content-type': 'application/json ; x=y' }, 200],
  [{ 'content-type': 'application/json; charset=latin1' }, 415],
  [{ 'content-type': 'application/json; x=1;charset="utf-8"' }, 200],
  // A regular expression that takes cubic time for white space would not end.
  [{ 'content-type': `application/json; charset=${' '.repeat(8000)}"x"y` }, 200],
  [{ 'content-type': 'application/jsonl' }, 415],
  [{ 'content-type': 'application/json', 'content-encoding': 'Identity' }, 200],
  [{ 'content-type': 'application/json', 'content-encoding': 'gzip' }, 415],
])('POST /v1/write with the headers %j is answered with %d', async (headers, status) => {
  const { post } = await startService();
  expect((await post('/v1/write', { value: 1 }, headers)).status).toBe(status);
});

it.each(['gzip', 'aws-chunked', 'identity'])(
  'POST /trpc/write with the Content-Encoding %s is answered as over REST: identity alone is accepted',
  async (encoding) => {
    const { post } = await startService();
    const { status } = await post('/trpc/write', { value: 1 }, { 'content-encoding': encoding });
    expect(status).toBe(encoding === 'identity' ? 200 : 415);
  },
);

it('POST /v1/write with two headers Content-Encoding is answered with 415', async () => {
  needs('a port');
  const { origin } = (await startService()).server;
  const headers = { authorization: validKey, 'content-type': 'application/json' };
  const sent = request(`${origin}/v1/write`, { method: 'POST', headers });
  sent.setHeader('content-encoding', ['identity', 'gzip']).end('{"value":1}');
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  response.resume();
  expect(response.statusCode).toBe(415);
});
