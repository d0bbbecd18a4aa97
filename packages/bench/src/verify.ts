import { once } from 'node:events';
import { type IncomingMessage, request as httpRequest } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Case, CaseRequest, ExpectedResponse } from './cases.ts';
import type { Contender } from './contenders.ts';

/** One sentence for each wrong answer of a contender: nothing is compared that does not do the same. */
export async function differences(
  port: number,
  subject: Case,
  headers: Contender['headers'],
): Promise<readonly string[]> {
  const problems: string[] = [];
  for (const { request, expected } of subject.requests) {
    problems.push(...responseDifferences(await call(port, request), expected, headers));
  }
  return problems;
}

/** Sends one request to a server of this machine. */
async function call(port: number, { method, path, headers, body }: CaseRequest): Promise<ExpectedResponse> {
  const sent = httpRequest({ host: '127.0.0.1', port, method, path, headers, agent: false }).end(body);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const { headersDistinct, statusCode: status = 0 } = response;
  const joined = Object.entries(headersDistinct).map(([name, values = []]) => [name, values.join(', ')]);
  return {
    status,
    headers: Object.fromEntries(joined) as Record<string, string>,
    body: await text(response),
  };
}

function responseDifferences(
  received: ExpectedResponse,
  expected: ExpectedResponse,
  headers: Contender['headers'],
): string[] {
  const problems: string[] = [];
  if (received.status !== expected.status) problems.push(`status ${received.status}, not ${expected.status}`);
  for (const [name, value] of Object.entries(expected.headers)) {
    if (headers === 'minimal' && name !== 'content-type') continue;
    const got = received.headers[name];
    if (got === undefined || comparable(got) !== comparable(value))
      problems.push(`${name}: ${got}, not ${value}`);
  }
  for (const name of ['x-request-id', 'x-content-type-options', 'cache-control']) {
    if (headers === 'all' && !received.headers[name]) problems.push(`no ${name}`);
  }
  const body = comparable(received.body);
  const expectedBody = comparable(expected.body);
  if (body !== expectedBody) problems.push(`body ${excerpt(body, expectedBody)}`);
  return problems;
}

/**
 * What is compared: a new animal's id stands as 0; `charset=utf-8` of JSON is left out, since it says nothing (RFC 8259
 * §8.1), and so are blanks behind a list's commas.
 */
const comparable = (received: string) =>
  received
    .replace(/("id":)\d+(?=,"name":"Rex")/, '$10')
    .replace(/^(\/v1\/pets\/)\d+$/, '$10')
    .replace(/; ?charset=utf-8$/i, '')
    .replaceAll('",<', '", <');

function excerpt(body: string, expected: string): string {
  let at = 0;
  while (at < expected.length && expected[at] === body[at]) at += 1;
  const from = Math.max(at - 20, 0);
  return `${JSON.stringify(body.slice(from, from + 120))} at ${from}, not ${JSON.stringify(expected.slice(from, from + 120))}`;
}
