import { createGateway } from 'trpc-gateway';
import { run, type RunOptions } from 'trpc-gateway-runtime';
import { docsPage } from 'trpc-gateway-runtime/docs';
import { log } from 'trpc-gateway-runtime/log';
import { gauge, metrics } from 'trpc-gateway-runtime/metrics';
import { router } from './router.ts';

// The program of the README with the test router. OPTIONS has additional options of `run` as JSON, and HANGS is the worker
// whose start never completes: `first` or `second`.
const { HANGS: hangs, OPTIONS = '{}' } = process.env;

await run({
  log: log({ level: 'info', requests: 'errors' }),
  docs: docsPage(),
  admin: { port: 0, metrics: metrics() },
  async start({ options, isFirst, onClose }) {
    if (hangs !== undefined && isFirst === (hangs === 'first')) {
      process.stderr.write('hangs\n');
      await new Promise((resolve) => setTimeout(resolve, 600_000));
    }
    onClose(() => process.stderr.write('closed\n'));
    const gateway = await createGateway({
      ...options,
      router,
      document: { title: 'Notes', version: '1.0.0' },
      createContext: () => ({}),
      // Other tests may keep the machine busy.
      maxQueueMs: 60_000,
    });
    return {
      gateway,
      metrics: () => [gauge('notes_open', '1 if the notes are open, 0 otherwise.', 1, 'min')],
    };
  },
  ...(JSON.parse(OPTIONS) as Partial<RunOptions>),
});
