import { createGateway } from 'trpc-gateway';
import { run } from 'trpc-gateway-runtime';
import { log } from 'trpc-gateway-runtime/log';
import { router } from './router.ts';

// A service with two workers. HANGS selects the worker whose start never completes: `first` or `second`.
await run({
  workers: 2,
  server: 'node',
  log: log(),
  async start({ options, isFirst }) {
    if (isFirst === (process.env['HANGS'] === 'first')) {
      process.stderr.write('hangs\n');
      await new Promise((resolve) => setTimeout(resolve, 600_000));
    }
    const gateway = await createGateway({
      ...options,
      router,
      document: { title: 'Notes', version: '1.0.0' },
      createContext: () => ({ notes: '' }),
    });
    return { gateway };
  },
});
