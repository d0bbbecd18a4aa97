import { createGateway } from 'trpc-gateway';
import { run, type RunOptions } from 'trpc-gateway-runtime';
import { docsPage } from 'trpc-gateway-runtime/docs';
import { log } from 'trpc-gateway-runtime/log';
import { gauge, metrics } from 'trpc-gateway-runtime/metrics';
import type { GatewayMeta } from 'trpc-gateway/procedures';
import { initTRPC } from '@trpc/server';
import { z } from 'zod';

const t = initTRPC.meta<GatewayMeta>().create();
const Note = z.object({ name: z.string() });

/** A router of notes, which it does not store. */
const router = t.router({
  createNote: t.procedure
    .meta({ openapi: { method: 'POST', path: '/notes', successStatus: 201 } })
    .input(Note)
    .output(Note)
    .mutation(({ input }) => input),
  listNotes: t.procedure
    .meta({ openapi: { method: 'GET', path: '/notes' } })
    .input(z.object({ limit: z.int() }))
    .output(z.array(Note))
    .query(() => []),
});

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
