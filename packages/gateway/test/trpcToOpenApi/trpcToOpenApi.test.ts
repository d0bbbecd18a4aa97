import { initTRPC } from '@trpc/server';
import { readFileSync } from 'node:fs';
import { inspect, isDeepStrictEqual } from 'node:util';
import { inputs, longForm } from '@petstore/testing/forms';
import fc from 'fast-check';
import { createGateway } from 'trpc-gateway';
import { trpcToOpenApi } from 'trpc-gateway/trpc-to-openapi';
import { createOpenApiFetchHandler, type OpenApiMeta } from 'trpc-to-openapi';
import { beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { seedMessage, testSeed } from '../testSeed.ts';
import { requestsOf, type Sent } from './requests.ts';
import { emptyQueryRow, presetRows, type Rows, strictRows, type Difference } from './rows.ts';
import { type Send, startGateway, startTrpcToOpenApi } from './servers.ts';
import { createShapes } from './shapes.ts';

// Beside trpc-to-openapi on Express: generated requests, mostly valid, to routers in the shapes of public code.

/** 12,000 requests in the long form, otherwise a fifth. */
const requestsPerShape = inputs(120);

const shapes = Object.values(createShapes()).flatMap((router) => Object.values(router));
const requests = shapes.flatMap((shape) =>
  fc
    .sample(requestsOf(shape), { seed: testSeed, numRuns: requestsPerShape })
    .map((sent) => ({ path: shape.openapi.path, sent })),
);

const { [emptyQueryRow]: _, ...rowsOnExpress } = presetRows;

let theirs: Send;
beforeAll(async () => {
  theirs = await startTrpcToOpenApi();
});

/** Sends all requests to both servers. Resolves with those whose outcomes differ. */
async function differencesOf(ours: Send): Promise<readonly Difference[]> {
  const found: Difference[] = [];
  const waiting = requests.values();
  const compare = async ({ path, sent }: { readonly path: string; readonly sent: Sent }) => {
    const [before, after] = await Promise.all([theirs(sent), ours(sent)]);
    if (!isDeepStrictEqual(before, after)) found.push({ path, sent, theirs: before, ours: after });
  };
  const work = async () => {
    for (const request of waiting) await compare(request);
  };
  await Promise.all(Array.from({ length: 8 }, work));
  return found;
}

/** Counts the differences by the row that covers each, and returns those that none covers. */
function sortByRow(differences: readonly Difference[], rows: Rows) {
  const counts = Object.fromEntries(Object.keys(rows).map((row) => [row, 0]));
  const others: Difference[] = [];
  for (const difference of differences) {
    const row = Object.keys(rows).find((each) => rows[each]?.(difference));
    if (row === undefined) others.push(difference);
    else counts[row] = (counts[row] ?? 0) + 1;
  }
  return { counts, others: others.slice(0, 3).map((each) => inspect(each, { depth: 9 })) };
}

describe('a gateway beside trpc-to-openapi', { timeout: 300_000 }, () => {
  it('the differences compared are the rows of the migration page', () => {
    const page = readFileSync(
      new URL('../../../../docs/migrating/from-trpc-to-openapi.md', import.meta.url),
      'utf8',
    );
    const [, withPreset = '', without = ''] =
      /With the preset:\n(.*)Without it also:\n(.*?)\n## /s.exec(page) ?? [];
    const rowsOf = (list: string) =>
      list.split('\n').flatMap((line) => (line.startsWith('- ') ? [line.slice(2)] : []));
    expect(rowsOf(withPreset)).toEqual(Object.keys(presetRows));
    expect(rowsOf(without)).toEqual(Object.keys(strictRows));
  });

  it.each([
    [
      'with the preset',
      {
        ...trpcToOpenApi({ title: 'Shapes', version: '1.0.0' }),
        compatibility: 'trpc-to-openapi-express' as const,
      },
      {},
      rowsOnExpress,
    ],
    ['without the preset', {}, presetRows, strictRows],
  ])(
    '%s, status, headers, body and input are the same but for the rows of the page',
    async (_title, options, shared, own) => {
      const differences = await differencesOf(await startGateway(options));
      const { counts, others } = sortByRow(differences, { ...shared, ...own });
      expect({ others, seedMessage }).toEqual({ others: [], seedMessage });
      // A short run need not have a request of each row.
      const unused = longForm ? Object.keys(own).filter((row) => counts[row] === 0) : [];
      expect(unused).toEqual([]);
    },
  );
});

it.each(['q=', 'q', 'q=&n=', 'q=a&n=', 'q=&list=', 'q=&list=&list=', 'q=&q=', ''])(
  'the preset reads ?%s as trpc-to-openapi does without Express',
  async (query) => {
    const t = initTRPC.meta<OpenApiMeta>().create();
    const find = t.procedure
      .meta({ openapi: { method: 'GET', path: '/search' } })
      .input(z.object({ q: z.string(), n: z.number().default(10), list: z.array(z.string()).optional() }))
      .output(z.unknown())
      .query(({ input }) => input);
    const options = { router: t.router({ find }), createContext: () => ({}) };
    const request = () => new Request(`http://127.0.0.1/search?${query}`);
    const before = await createOpenApiFetchHandler({ ...options, endpoint: '/', req: request() });
    const preset = trpcToOpenApi({ title: 'Search', version: '1' });
    const gateway = await createGateway({ ...preset, ...options, restBasePath: '/' });
    const after = await gateway.fetch(request());
    const outcomeOf = async (response: Response): Promise<unknown> =>
      response.status === 200 ? await response.json() : response.status;
    expect(await outcomeOf(after)).toEqual(await outcomeOf(before));
  },
);
