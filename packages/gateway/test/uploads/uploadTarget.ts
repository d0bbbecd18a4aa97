/** A process that serves large uploads, for `startPinned(0, …)`. It answers each message with its port and its last error. */
import { createGateway } from 'trpc-gateway';
import { temporaryFiles } from 'trpc-gateway/node';
import { listenWithFetch } from '@petstore/testing/fetchServer';
import { z } from 'zod';
import { adapterOfRun } from '../adapters.ts';
import { listen } from '../listen.ts';
import { respondToParent } from '../load/pinned.ts';
import { sizeOf, stream, t } from './routers.ts';

/** The port of the process, and the last error that it reported. */
export interface UploadTarget {
  readonly port: number;
  readonly error: string;
}

const { SPOOL: directory } = process.env;
const contentTypes = ['multipart/form-data'];
const upload = { maxSize: 2 ** 30 };
let lastError = '';

const gateway = await createGateway({
  router: t.router({
    stream: t.procedure
      .meta({ openapi: { method: 'POST', path: '/stream', upload } })
      .input(stream)
      .output(z.int())
      .mutation(({ input }) => sizeOf(input)),
    spool: t.procedure
      .meta({ openapi: { method: 'POST', path: '/spool', contentTypes, upload: { ...upload, spool: true } } })
      .input(z.object({ file: z.file() }))
      .output(z.int())
      .mutation(({ input }) => input.file.size),
  }),
  createContext: () => ({}),
  document: { title: 'Uploads', version: '1.0.0' },
  spool: temporaryFiles(directory),
  callTimeoutMs: 120_000,
  onError: ({ error }) => {
    lastError = String(error.cause ?? error);
  },
});
const { port } = adapterOfRun() === 'fetch' ? await listenWithFetch(gateway.fetch) : await listen(gateway);

respondToParent(async () => ({ port, error: lastError }) satisfies UploadTarget);
