import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { expect, it } from 'vitest';
import { needs } from '../servers.ts';
import { startService, validKey } from '../startService.ts';

it.each<[target: string, headers: Record<string, string>, status: number]>([
  ['/v1/write', { 'content-type': 'application/json' }, 200],
  ['/v1/write', { 'content-type': 'Application/JSON; Charset="UTF-8"' }, 200],
  ['/v1/write', { 'content-type': 'application/json ; x=y' }, 200],
  ['/v1/write', { 'content-type': 'application/json; charset=latin1' }, 415],
  ['/v1/write', { 'content-type': 'application/json; x=1;charset="utf-8"' }, 200],
  // A regular expression that takes cubic time for white space would not end.
  ['/v1/write', { 'content-type': `application/json; charset=${' '.repeat(8000)}"x"y` }, 200],
  ['/v1/write', { 'content-type': 'application/jsonl' }, 415],
  ['/v1/write', { 'content-type': 'application/json', 'content-encoding': 'Identity' }, 200],
  ['/v1/write', { 'content-type': 'application/json', 'content-encoding': 'gzip' }, 415],
  ['/trpc/write', { 'content-encoding': 'identity' }, 200],
  ['/trpc/write', { 'content-encoding': 'gzip' }, 415],
  ['/trpc/write', { 'content-encoding': 'aws-chunked' }, 415],
])('POST %s with the headers %j is answered with %d', async (target, headers, status) => {
  const { post } = await startService();
  expect((await post(target, { value: 1 }, headers)).status).toBe(status);
});

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
