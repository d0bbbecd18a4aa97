import { createClient } from 'redis';
import { createGateway } from 'trpc-gateway';
import { run } from 'trpc-gateway-runtime';
import { docsPage } from 'trpc-gateway-runtime/docs';
import { eventChannel, memoryEventLog } from 'trpc-gateway-shared';
import { redisEventLog } from 'trpc-gateway-shared/events/redis';
import { log } from 'trpc-gateway-runtime/log';
import { metrics } from 'trpc-gateway-runtime/metrics';
import { z } from 'zod';
import { books } from './books.ts';

// A service with events, logs, metrics and the docs page. It has no `await` at its top level, so it compiles to CommonJS too.
const url = process.env['REDIS_URL'];
const events = url === undefined ? memoryEventLog() : redisEventLog({ connect: () => createClient({ url }) });
const news = eventChannel({ log: events, name: 'news', event: z.string() });

void run({
  listen: { port: Number(process.env['PORT']) },
  log: log(),
  docs: docsPage({ path: '/api/docs', document: '/api/openapi.json' }),
  admin: { port: 0, metrics: metrics() },
  async start({ options, onClose }) {
    onClose(() => events.close());
    await news.publish('all', 'The service has started.');
    return { gateway: await createGateway({ ...options, ...books }) };
  },
});
