import { run } from 'trpc-gateway-runtime';
import { docsPage } from 'trpc-gateway-runtime/docs';
import { log } from 'trpc-gateway-runtime/log';
import { StartError } from 'trpc-gateway-runtime/signals';
import { openGateway } from './gateway.ts';

const { API_KEY, HOST = '127.0.0.1', PORT = '3000' } = process.env;

await run({
  listen: { host: HOST, port: Number(PORT) },
  log: log(),
  docs: docsPage(),
  async start({ options }) {
    if (!API_KEY) throw new StartError('API_KEY is not set. Set the key of clients, or use npm run dev.');
    return { gateway: await openGateway(API_KEY, options) };
  },
});
