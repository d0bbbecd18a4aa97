import { createTRPCClient, createWSClient, httpBatchLink, wsLink } from '@trpc/client';
import transformer from 'superjson';
import type { AppRouter } from './books.ts';

// `node calls.mts ORIGIN trpc rest …` calls the books over each of these protocols, and prints the results as JSON.
const [, , origin = '', ...protocols] = process.argv;

const url = `${origin}/api/trpc`;
const json = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
const send = (path: string, body?: object, headers: Readonly<Record<string, string>> = {}) =>
  fetch(origin + path, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { ...json, ...headers },
    ...(body && { body: JSON.stringify(body) }),
  });
const fetchJson = async (path: string, body?: object): Promise<unknown> => (await send(path, body)).json();

/** Returns the data of the first event that is a text. */
async function firstEvent(path: string): Promise<string> {
  const response = await fetch(origin + path, { headers: { accept: 'text/event-stream' } });
  let text = '';
  for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += chunk;
    const [, data] = /^data: ?(?:\{"json":)?("[^"]*")\}?$/m.exec(text) ?? [];
    if (data !== undefined) return data;
  }
  return text;
}

const calls: Readonly<Record<string, () => Promise<unknown>>> = {
  trpc() {
    const { book } = createTRPCClient<AppRouter>({ links: [httpBatchLink({ url, transformer })] });
    return Promise.all([book.query({ id: 1 }), book.query({ id: 99 })]);
  },
  rest: async () => [
    await fetchJson('/api/v1/books', { title: 'Emma' }),
    await fetchJson('/api/v1/books/2'),
    await fetchJson('/api/v1/books/one'),
  ],
  mcp() {
    const params = { name: 'book', arguments: { id: 1 } };
    return fetchJson('/api/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/call', params });
  },
  events: () => Promise.all([firstEvent('/api/v1/news'), firstEvent('/api/trpc/news')]),
  async websocket() {
    const client = createWSClient({ url: url.replace('http', 'ws') });
    const { book } = createTRPCClient<AppRouter>({ links: [wsLink<AppRouter>({ client, transformer })] });
    try {
      return await book.query({ id: 1 });
    } finally {
      void client.close();
    }
  },
  async docs() {
    const names = ['docs', 'docs/start.js', 'docs/scalar.js'];
    const files = names.map(async (name) => (await fetch(`${origin}/api/${name}`)).status);
    return Promise.all(files);
  },
  async sessions() {
    const results: unknown[] = [];
    for (const name of ['Ada', 'Eve']) {
      const user = { name, email: `${name}@example.com`, password: 'correct horse' };
      const { headers } = await send('/api/auth/sign-up/email', user, { origin });
      const cookies = headers.getSetCookie().map((each) => each.split(';')[0]);
      const cookie = cookies.join('; ');
      const forged = { cookie, 'sec-fetch-site': 'cross-site', 'content-type': 'text/plain' };
      for (const each of [{ cookie: '' }, { cookie }, { cookie }, forged]) {
        const response = await send('/api/v1/books/1/loans', {}, { 'idempotency-key': '1', ...each });
        const { to } = (await response.json()) as { readonly to?: string };
        results.push([response.status, to, response.headers.get('idempotent-replayed')]);
      }
      const page = await send('/', undefined, { cookie });
      results.push(/<body>.*?<\/i>/s.exec(await page.text())?.[0].replaceAll(/<.*?>/gs, ''));
    }
    return results;
  },
};

const results = protocols.map(async (name) => [name, await calls[name]?.()] as const);
process.stdout.write(`${JSON.stringify(Object.fromEntries(await Promise.all(results)))}\n`);
// Event streams are still open.
process.exit();
