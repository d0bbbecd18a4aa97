import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type BuildOptions, type Metafile } from 'esbuild';
import { startFetchProgram } from '@petstore/testing/fetchProgram';
import { runtimesToTest } from '@petstore/testing/runtimes';
import { describe, expect, it, onTestFinished } from 'vitest';
import * as portable from './testing/portableCalls.ts';
import type { ServedProcedure } from './procedures/procedure.ts';

const runtimes = runtimesToTest('deno', 'workerd');
const source = fileURLToPath(new URL('.', import.meta.url));

const bundle = (entry: string, options: BuildOptions = {}) =>
  build({
    entryPoints: [join(source, entry)],
    bundle: true,
    platform: 'neutral',
    mainFields: ['module', 'main'],
    conditions: ['trpc-gateway-source'],
    format: 'esm',
    write: false,
    metafile: true,
    logLevel: 'silent',
    ...options,
  });

const importedBy = (metafile: Metafile | undefined) =>
  Object.values(metafile?.outputs ?? {}).flatMap(({ imports }) => imports.map(({ path }) => path));

async function callsInProcess(): Promise<object> {
  const gateway = await portable.createPortableGateway();
  return portable.portableCalls((request) => gateway.fetch(request, { remoteAddress: '192.0.2.1' }));
}

describe('the package on a runtime without Node’s built-ins', () => {
  it.each(['index.ts', 'procedures.ts', 'client/index.ts', 'adapters/fetch/fetch.ts'])(
    '%s imports no built-ins of Node',
    async (entry) => {
      const { metafile, warnings } = await bundle(entry);
      expect([importedBy(metafile), warnings]).toEqual([[], []]);
    },
  );

  // They come with `import { z } from 'zod'`, in place of `import * as z`: 54 kB with gzip.
  it('a bundle has no locales of zod but English', async () => {
    const { metafile } = await bundle('index.ts', { minify: true });
    const used = Object.values(metafile?.outputs ?? {}).flatMap(({ inputs }) => Object.entries(inputs));
    const locales = used.filter(
      ([path, { bytesInOutput }]) => bytesInOutput > 0 && path.includes('/locales/'),
    );
    expect(locales.map(([path]) => path.split('/').at(-1))).toEqual(['en.js']);
  });

  it('the gateway serves REST, tRPC, batches, JSON lines, events and the document in process', async () => {
    const onNode = await callsInProcess();
    expect(onNode).toMatchObject({
      rest: [200, '"Hello Ada"'],
      restBody: [200, '3'],
      invalid: [400, '{"code":"BAD_REQUEST","message":"b: is required.","status":400}'],
      form: [200, '3'],
      bytes: [200, 'äbc'],
      restEvents: [200, 'data: {"n":1}\nid: 1\n\ndata: {"n":2}\nid: 2\n\nevent: end\ndata: \n\n'],
      unknownToken: [401, expect.stringContaining('UNAUTHORIZED')],
      query: [200, '{"result":{"data":"Hello Ada"}}'],
      mutation: [200, '{"result":{"data":3}}'],
      batch: [207, expect.stringContaining('httpBatchStreamLink')],
      lines: expect.arrayContaining(['[3,0,[[5]]]']),
      events: [200, expect.stringContaining('data: {"n":2}\nid: 2')],
      document: [200, { openapi: '3.1.0', info: { title: 'Greetings' } }],
    });
  });

  it.each(runtimes)(
    '$title serves each format over its own HTTP server as Node does, with compiled procedures',
    async (runtime) => {
      const program = await startFetchProgram(runtime, join(source, 'testing/portableProgram.ts'));
      onTestFinished(() => program.close());
      const procedures = (await (await fetch(`${program.origin}/procedures`)).json()) as ServedProcedure[];
      expect(procedures.filter(({ execution }) => execution !== 'compiled')).toEqual([]);
      const onNode = await callsInProcess();
      expect(await portable.portableCalls(fetch, program.origin)).toEqual(onNode);
      expect(program.stderr()).not.toContain('trpc-gateway:');
    },
  );

  it.each(runtimes)('a client of $title that leaves ends its event stream', async (runtime) => {
    const program = await startFetchProgram(runtime, join(source, 'testing/portableProgram.ts'));
    onTestFinished(() => program.close());
    const headers = { accept: 'text/event-stream', authorization: 'Bearer valid' };
    const { body } = await fetch(`${program.origin}/v1/ticks`, { headers });
    const reader = body?.getReader();
    await reader?.read();
    const ended = async () => (await fetch(`${program.origin}/ended-ticks`)).json();
    expect(await ended()).toBe(0);
    await reader?.cancel();
    await expect.poll(ended).toBe(1);
  });
});
