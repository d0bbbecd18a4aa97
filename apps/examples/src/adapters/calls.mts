import { createTRPCClient, createWSClient, httpBatchLink, wsLink } from '@trpc/client';
import type { AppRouter } from './books.ts';

// `node calls.mts ORIGIN trpc rest …` calls the books over each of these protocols, and prints the results as JSON.
const [, , origin = '', ...protocols] = process.argv;

const url = `${origin}/api/trpc`;
const fetchJson = async (path: string, body?: object): Promise<unknown> => {
  const response = await fetch(origin + path, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    ...(body && { body: JSON.stringify(body) }),
  });
  return response.json();
};

/** Returns the data of the first event that is a text. */
async function firstEvent(path: string): Promise<string> {
  const response = await fetch(origin + path, { headers: { accept: 'text/event-stream' } });
  let text = '';
  for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += chunk;
    const [, data] = /^data: ?("[^"]*")$/m.exec(text) ?? [];
    if (data !== undefined) return data;
  }
  return text;
}

const calls: Readonly<Record<string, () => Promise<unknown>>> = {
  trpc() {
    const { book } = createTRPCClient<AppRouter>({ links: [httpBatchLink({ url })] });
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
    const { book } = createTRPCClient<AppRouter>({ links: [wsLink<AppRouter>({ client })] });
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
};

const results = protocols.map(async (name) => [name, await calls[name]?.()] as const);
process.stdout.write(`${JSON.stringify(Object.fromEntries(await Promise.all(results)))}\n`);
// Event streams are still open.
process.exit();
