import { serve } from 'trpc-gateway/bun';
import { gateway } from './gateway.ts';

const text = { headers: [['content-type', 'text/plain']] } as const;

// The gateway with WebSockets, beside pages of your own.
const listening = await serve(
  {
    ...gateway,
    handle(request) {
      if (request.path === '/api/hello') return { ...text, status: 200, body: 'Hello from Bun.' };
      if (gateway.serves(request.path)) return gateway.handle(request);
      return { ...text, status: 404, body: 'Bun has no such page.' };
    },
  },
  { port: Number(process.env['PORT'] ?? 3000) },
);
process.once('SIGTERM', () => {
  // Ends what is still open after 5 s. Event streams end after their current event.
  void listening.close({ timeoutMs: 5_000 }).then(() => process.exit());
});
