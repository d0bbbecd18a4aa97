import { connect as connectTo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Client } from '@modelcontextprotocol/client';
import { createTRPCClient, httpBatchLink } from '@trpc/client';
import { connectTools } from '@petstore/testing/connectTools';
import { providerProblems } from '@petstore/testing/providerProblems';
import { expect, it } from 'vitest';
import type { NotesRouter } from './router.ts';
import { startAgent } from './testing/agent.ts';
import { cookiesOf, credentialsOf, type Headers, newNotes, post } from './testing/newNotes.ts';

/** The client of a browser, a program or an agent over tRPC. */
const trpc = (origin: string, headers: Headers) =>
  createTRPCClient<NotesRouter>({ links: [httpBatchLink({ url: `${origin}/trpc`, headers })] });

/** Calls a REST operation, and returns the status and the body. */
async function rest(origin: string, headers: Headers, body?: object) {
  const response = await fetch(`${origin}/v1/notes`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  return [response.status, await response.json()] as const;
}

/** Does in a browser what the user of an agent does: signs in, and consents. @returns the URL that the agent receives */
async function consentTo(authorization: URL, name: string): Promise<URL> {
  const { origin } = authorization;
  // Better Auth redirects a browser, and names the URL to a fetch.
  const next = async (response: Response) => {
    const { url } = (await response.json()) as { readonly url: string };
    return new URL(url, origin);
  };
  const query = (page: URL) => ({ oauth_query: page.search.slice(1) });
  const signIn = await next(await fetch(authorization));
  expect(signIn.pathname).toBe('/sign-in');
  const signedIn = await post(origin, 'sign-in/email', { ...credentialsOf(name), ...query(signIn) });
  const cookie = cookiesOf(signedIn);
  const consent = await next(signedIn);
  expect(consent.pathname).toBe('/consent');
  // An agent that renews its token asks for `offline_access`.
  expect(consent.searchParams.get('scope')).toMatch(/^notes:read notes:write( offline_access)?$/);
  return next(await post(origin, 'oauth2/consent', { accept: true, ...query(consent) }, { cookie }));
}

/** Connects an agent with the consent of its user. */
async function connectAgent(origin: string, name: string) {
  const { authorization, finish } = await startAgent(origin);
  return finish(await consentTo(authorization, name));
}

it('a session, a key and the agent of a user reach the same notes over REST, tRPC and MCP', async () => {
  const { origin, ada, keyFor, sessionOf } = await newNotes();
  const session = await sessionOf('ada');
  const key = await keyFor('read', 'write');
  const agent = await connectAgent(origin, 'ada');
  const withKey = await connectTools(origin, { headers: key });

  const authors: string[] = [];
  for (const headers of [session, key, agent.headers]) {
    const { author } = await trpc(origin, headers).addNote.mutate({ text: 'over tRPC' });
    const [status, note] = await rest(origin, headers, { text: 'over REST' });
    expect([status, note]).toEqual([201, { id: expect.any(Number), text: 'over REST', author }]);
    authors.push(author);
  }
  expect(authors).toEqual([ada, expect.any(String), ada]);
  for (const client of [withKey, agent.client]) {
    const call = { name: 'addNote', arguments: { text: 'over MCP' } };
    expect((await client.callTool(call)).structuredContent).toMatchObject({ text: 'over MCP' });
  }
  const [, notes] = await rest(origin, session);
  expect(notes).toHaveLength(8);
  expect(await trpc(origin, key).listNotes.query()).toEqual(notes);
  expect(JSON.parse(textOf(await agent.client.callTool({ name: 'listNotes' })))).toEqual(notes);
});

const textOf = ({ content }: Awaited<ReturnType<Client['callTool']>>) =>
  content[0]?.type === 'text' ? content[0].text : '';

it('another organization sees no notes of the first', async () => {
  const { origin, keyFor, sessionOf } = await newNotes();
  await rest(origin, await keyFor('write'), { text: 'for the library' });
  expect(await rest(origin, await sessionOf('eve'))).toEqual([200, []]);
  const agent = await connectAgent(origin, 'eve');
  expect(await rest(origin, agent.headers)).toEqual([200, []]);
});

it('a key that may only read lists no tool that writes, and gets 403 for it over each protocol', async () => {
  const { origin, keyFor } = await newNotes();
  const headers = await keyFor('read');
  const client = await connectTools(origin, { headers: headers });
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual(['listNotes']);
  expect(tools.flatMap((tool) => providerProblems(tool))).toEqual([]);
  const call = { name: 'addNote', arguments: { text: 'a' } };
  await expect(client.callTool(call)).rejects.toThrow(/scope/);
  const problem = { type: 'about:blank', title: 'Forbidden', status: 403, code: 'FORBIDDEN' };
  expect(await rest(origin, headers, { text: 'a' })).toMatchObject([403, problem]);
  await expect(trpc(origin, headers).addNote.mutate({ text: 'a' })).rejects.toThrow(/scope/);
});

it('an agent may not do what its user may not do, although the user has consented to it', async () => {
  const { origin } = await newNotes();
  const { client, headers } = await connectAgent(origin, 'grace');
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['listNotes']);
  expect((await rest(origin, headers, { text: 'a' }))[0]).toBe(403);
});

it('the agent of a user who has left the organization is rejected at once', async () => {
  const { origin, api, library, sessionOf } = await newNotes();
  const { headers } = await connectAgent(origin, 'grace');
  expect((await rest(origin, headers))[0]).toBe(200);
  const request = { body: { memberIdOrEmail: 'grace@example.com', organizationId: library.id } };
  await api.removeMember({ ...request, headers: new Headers(await sessionOf('ada')) });
  expect((await rest(origin, headers))[0]).toBe(401);
});

it.each([
  ['TRACE', 'TRACE /nope HTTP/1.1\r\nHost: a\r\n', 400],
  ['a Host that is none', 'GET /nope HTTP/1.1\r\nHost: a b\r\n', 400],
  ['a body that is too large', 'POST /nope HTTP/1.1\r\nHost: a\r\nContent-Length: 65537\r\n', 413],
  ['a body of unknown length', 'POST /nope HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n', 413],
])('a request with %s does not end the service', async (_what, head, status) => {
  const { origin } = await newNotes();
  const socket = connectTo(Number(new URL(origin).port), '127.0.0.1');
  socket.end(`${head}Connection: close\r\n\r\n0\r\n\r\n`);
  expect(await text(socket)).toMatch(`HTTP/1.1 ${status} `);
  expect((await fetch(`${origin}/api/auth/ok`)).status).toBe(200);
});

it('an agent of an older revision registers if it is redirected to this machine or to https', async () => {
  const { origin } = await newNotes();
  for (const [redirect, status] of [
    ['http://127.0.0.1:8976/callback', 201],
    ['http://[::1]:8976/callback', 201],
    ['https://agent.example/callback', 201],
    ['http://127.0.0.1.agent.example/callback', 400],
    ['http://localhost:8976@agent.example/callback', 400],
  ] as const) {
    const body = { client_name: 'Test agent', redirect_uris: [redirect], token_endpoint_auth_method: 'none' };
    const registered = await post(origin, 'oauth2/register', body);
    expect([redirect, registered.status]).toEqual([redirect, status]);
  }
});

it('an agent that registers itself gets no token without a user', async () => {
  const { origin } = await newNotes();
  const registered = await post(origin, 'oauth2/register', {
    client_name: 'Test agent',
    redirect_uris: ['https://agent.example/callback'],
    token_endpoint_auth_method: 'client_secret_post',
  });
  expect(registered.status).toBe(201);
  const client = (await registered.json()) as Readonly<Record<'client_id' | 'client_secret', string>>;
  const { client_id, client_secret } = client;
  const grant = { grant_type: 'client_credentials', client_id, client_secret, resource: `${origin}/mcp` };
  const body = new URLSearchParams(grant);
  const rejected = await fetch(`${origin}/api/auth/oauth2/token`, { method: 'POST', body });
  expect([rejected.status, await rejected.json()]).toMatchObject([400, { error: 'unsupported_grant_type' }]);
});

it('no other page can frame the pages for signing in and for consent', async () => {
  const { origin } = await newNotes();
  for (const path of ['/sign-in', '/consent']) {
    const response = await fetch(`${origin}${path}`);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
  }
});
