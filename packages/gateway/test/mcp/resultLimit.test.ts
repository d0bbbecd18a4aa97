import { Ajv2020 } from 'ajv/dist/2020.js';
import * as fc from 'fast-check';
import { inputs } from '@petstore/testing/forms';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { mcp } from 'trpc-gateway/mcp';
import { callTool, listTools, revisions, type ToolResult } from '@petstore/testing/mcpMessages';
import { inProcess } from './serveTools.ts';
import { t, tool } from './toolRouter.ts';

type Procedures = Parameters<typeof t.router>[0];

const serve = (procedures: Procedures, maxResultBytes = 1000, options: object = {}) =>
  inProcess(procedures, { mcp: mcp({ maxResultBytes }), ...options });

const Row = z.object({ id: z.int(), text: z.string() });
type Row = z.output<typeof Row>;

const pageSize = z.int().min(1).default(100_000);
const byCursor = tool.input(z.object({ cursor: z.string().default('0'), limit: pageSize }));

/** Tools that page as APIs do. */
function pagingTools(all: () => readonly Row[]) {
  const afterCursor = ({ input: { cursor, limit } }: { input: { cursor: string; limit: number } }) => {
    const end = Number(cursor) + limit;
    return { rows: all().slice(Number(cursor), end), next: end < all().length ? String(end) : undefined };
  };
  return {
    cursor: byCursor.output(z.object({ rows: z.array(Row), next: z.string().optional() })).query(afterCursor),
    loose: byCursor.query(afterCursor),
    offset: tool
      .input(z.object({ offset: z.int().min(0).default(0), status: z.string().optional() }))
      .output(z.object({ rows: z.array(Row), total: z.int() }))
      .query(({ input: { offset } }) => ({ rows: all().slice(offset), total: all().length })),
    page: tool
      .input(z.object({ page: z.int().default(1), perPage: pageSize }))
      .output(z.array(Row))
      .query(({ input: { page, perPage } }) => all().slice((page - 1) * perPage, page * perPage)),
  };
}

function readPage({ content: [first, second] }: ToolResult) {
  const output = JSON.parse(first?.text ?? '') as Row[] | { readonly rows: Row[]; readonly next?: string };
  const { rows, next } = 'rows' in output ? output : { rows: output, next: undefined };
  return { output, rows, next, json: first?.text ?? '', sentence: second?.text };
}

/** Reads all rows of a tool, as the sentences say. */
async function readAll(callWith: (args: object) => Promise<ToolResult>): Promise<readonly Row[]> {
  const args: Record<string, string | number> = {};
  let read: Row[] = [];
  for (;;) {
    const { next, rows, sentence = '' } = readPage(await callWith(args));
    const [, restart, input, number] =
      /repeat the call( from the first page on)? with (\w+): (\d+)/.exec(sentence) ?? [];
    if (restart !== undefined) [read, args['page']] = [[], 1];
    if (input === undefined || input === 'offset') read.push(...rows);
    if (input !== undefined) args[input] = Number(number);
    else if (next !== undefined) args['cursor'] = next;
    else if (rows.length > 0 && rows.length === args['perPage']) args['page'] = Number(args['page']) + 1;
    else return read;
  }
}

it('a list that is too large is cut so that it fits and matches its schema, and what it says leads to each element once', async () => {
  let all: readonly Row[] = [];
  const limits = [1000, 1500, 4000, 20_000, 80_000];
  const times = [1, 1, 2, 10, 40];
  const runs = inputs(2000, 200);
  let cuts = 0;
  const starting = limits.map((maxResultBytes) =>
    serve(
      pagingTools(() => all),
      maxResultBytes,
      { maxResponseSize: maxResultBytes * 2 },
    ),
  );
  const servers = (await Promise.all(starting)).map(({ server }) => server);
  const ajv = new Ajv2020();
  const listed = await listTools(servers[0] as (typeof servers)[0]);
  const schemas = new Map(listed.map(({ name, outputSchema = {} }) => [name, ajv.compile(outputSchema)]));
  const text = fc.string({ unit: 'grapheme', maxLength: 15, size: 'max' });
  const outputs = fc.record({
    texts: fc.array(text, { maxLength: 100, size: 'max' }),
    at: fc.nat(limits.length - 1),
    name: fc.constantFrom(...schemas.keys()),
    revision: fc.constantFrom(...revisions),
  });
  await fc.assert(
    fc.asyncProperty(outputs, async ({ at, name, revision, texts }) => {
      const repeated = Array.from({ length: times[at] ?? 0 }, () => texts).flat();
      all = repeated.map((each, id) => ({ id, text: each }));
      const read = await readAll(async (args) => {
        const result = await callTool(servers[at] as (typeof servers)[0], name, args, { revision });
        const { json, output, rows, sentence } = readPage(result);
        const { structuredContent } = result;
        const whole = { ...(output as object), ...(sentence !== undefined && { cut: sentence }) };
        expect(structuredContent).toEqual(['cursor', 'offset'].includes(name) ? whole : undefined);
        expect(schemas.get(name)?.(structuredContent ?? output)).toBe(true);
        const sent = [json + (sentence ?? ''), JSON.stringify(structuredContent ?? '')];
        const sizes = sent.map((each) => Buffer.byteLength(each));
        expect(Math.max(...sizes)).toBeLessThanOrEqual(limits[at] as number);
        const escaped = [json, sentence ?? ''].map((each) => JSON.stringify(each)).join('');
        const responseBytes = Buffer.byteLength(escaped + (structuredContent ? sent[1] : ''));
        expect(responseBytes).toBeLessThanOrEqual(2 * (limits[at] as number) + 2);
        const { offset = 0 } = args as { readonly offset?: number };
        const first = name === 'offset' ? `${rows.length} of ${all.length - offset} ` : `${rows.length} of `;
        expect(sentence ?? `These are the first ${first}`).toContain(`These are the first ${first}`);
        cuts += sentence === undefined ? 0 : 1;
        return result;
      });
      expect(read).toEqual(all);
    }),
    { numRuns: runs, endOnFailure: true },
  );
  expect(cuts).toBeGreaterThan(runs / 2);
});

const texts = Array.from({ length: 200 }, (_, index) => `row ${index}`);
const large = 'a'.repeat(2000);

/** Calls the only tool of a gateway, and returns its result and its record. */
async function callOne(one: Procedures[string], args?: object, options: object = {}) {
  const running = await serve({ one }, undefined, options);
  const result = await callTool(running.server, 'one', args);
  await expect.poll(() => running.records).toHaveLength(1);
  return { running, result, last: result.content.at(-1)?.text ?? '', record: running.records[0] };
}

const withLast = z.array(z.string()).refine((all) => all.includes('row 199'));
const flags = texts.map(() => 'false');

it.each<[what: string, one: Procedures[string], advice?: string]>([
  ['an object', tool.query(() => ({ large }))],
  ['a text', tool.input(z.object({ to: z.string().optional() })).query(() => large), 'its inputs: to.'],
  ['text in a file', tool.query(() => new Blob([large], { type: 'text/plain' }))],
  ['a list whose first element is larger', tool.query(() => [large])],
  // Its schema rejects the whole output too.
  ['a list with a least length', tool.output(z.array(z.stringbool()).min(150)).query(() => flags)],
  ['a list with a refinement', tool.output(withLast).query(() => texts)],
  ['a tuple', tool.output(z.tuple([z.string()], z.string())).query(() => texts as [string])],
  ['an object of two lists', tool.query(() => ({ texts, tags: [] }))],
  [
    'the last value',
    tool.subscription(async function* last() {
      yield { large };
    }),
  ],
])(
  '%s that is too large is an error with its size, the limit, and what to do',
  async (_what, one, advice) => {
    const { last, record, result } = await callOne(one);
    expect(result.isError).toBe(true);
    const { code, message } = JSON.parse(last) as Record<string, string>;
    expect(code).toBe('PAYLOAD_TOO_LARGE');
    expect(message).toMatch(/^Its result is left out: it has \d{4} bytes, and at most 1000 are sent \(max/);
    expect(message).toContain(advice ?? 'The tool has no inputs that select less.');
    expect(record).toMatchObject({ limit: 'response-bytes', callErrors: [{ code }], error: undefined });
  },
);

const ran = 'The call has run, so do not repeat it';
const cut = 'first 94 of 200 elements: the result has 1891 bytes, and at most 1000 are sent.';

it.each<[what: string, one: Procedures[string], text: string, isError?: true]>([
  ['a list', tool.mutation(() => texts), `${cut} ${ran} for the rest.`],
  ['a text', tool.mutation(() => large), `${ran}. Its result is left out: it has 2000 bytes`],
  // Clients require structured content of a result without an error.
  ['an object', tool.output(z.object({ large: z.string() })).mutation(() => ({ large })), ran, true],
])('a mutation that returns %s that is too large has not failed, and says so', async (...row) => {
  const [, one, text, isError] = row;
  const { last, record, result } = await callOne(one);
  expect(result.isError).toBe(isError);
  expect(last).toContain(text);
  expect(record).toMatchObject({ isResultCut: true, limit: undefined, callErrors: undefined });
});

it('a repeated call with its idempotency key has the result of the first, as it was cut', async () => {
  let calls = 0;
  const one = tool
    .meta({ idempotencyKey: 'required' })
    .output(z.object({ large: z.string() }))
    .mutation(() => ({ large, calls: (calls += 1) }));
  const { result, running } = await callOne(one, { idempotencyKey: 'a' });
  const repeated = await callTool(running.server, 'one', { idempotencyKey: 'a' });
  expect([repeated.content, repeated.isError, calls]).toEqual([result.content, true, 1]);
  await expect.poll(() => running.records).toHaveLength(2);
  expect(running.records[1]).toMatchObject({ isReplay: true, isResultCut: true });
});

it('images do not count, a list of more than maxResponseSize is cut too, and a property "cut" is the output\'s own', async () => {
  const image = await callOne(tool.query(() => new Blob([large], { type: 'image/png' })));
  expect(image.result.content).toMatchObject([{ type: 'image' }]);
  const output = z.object({ cut: z.int(), texts: z.array(z.string()) });
  const one = tool.output(output).query(() => ({ cut: 1, texts }));
  const { last, result } = await callOne(one, {}, { maxResponseSize: 1900 });
  expect(result.structuredContent).toMatchObject({ cut: 1 });
  expect(last).toContain('of 200 elements of "texts"');
});

const quotes = texts.map(() => '"é'.repeat(10));
const listOf = (type: 'mutation' | 'query', isStructured: boolean) =>
  isStructured
    ? tool.output(z.object({ quotes: z.array(z.string()) }))[type](() => ({ quotes }))
    : tool[type](() => quotes);

it('maxResponseSize limits a cut result as it is sent, also of a mutation', async () => {
  const options = { maxResponseSize: 2000, mcp: mcp({ maxResultBytes: Infinity }) };
  for (const type of ['query', 'mutation'] as const) {
    for (const isStructured of [false, true]) {
      const { last, record, result } = await callOne(listOf(type, isStructured), {}, options);
      const [first, second] = result.content.map(({ text }) => JSON.stringify(text));
      const bytes = Buffer.byteLength(`${first}${second}${JSON.stringify(result.structuredContent) ?? ''}`);
      expect(bytes).toBeLessThanOrEqual(2000);
      expect(bytes).toBeGreaterThan(1500);
      expect(last).toContain('at most 2000 are sent');
      expect(record).toMatchObject({ isResultCut: true, limit: undefined });
    }
  }
});

it.each([
  ['query', 'The tool has no inputs'],
  ['mutation', `${ran}. Its result`],
] as const)(
  'a text of more than maxResponseSize that a %s returns is an error with the limit and what to do: %s',
  async (type, advice) => {
    const options = { maxResponseSize: 1500, mcp: mcp() };
    const { last, record, result } = await callOne(
      tool[type](() => large),
      {},
      options,
    );
    expect(result.isError).toBe(true);
    expect(last).toContain('it has 2002 bytes, and at most 1500 are sent (maxResponseSize)');
    expect(last).toContain(advice);
    expect(record).toMatchObject({ limit: 'response-bytes', isResultCut: undefined });
  },
);

it('an output with a member "cut" that its schema does not name keeps it', async () => {
  const one = tool
    .output(z.looseObject({ texts: z.array(z.string()) }))
    .query(() => ({ cut: 'mine', texts }));
  const { last, result } = await callOne(one);
  expect(last).toContain('of 200 elements of "texts"');
  expect(result.structuredContent).toMatchObject({ cut: 'mine' });
});

it('a tool has the limit of its metadata, of mcp() or of 80,000 bytes, and Claude Code has that of the metadata', async () => {
  const input = z.object({ size: z.int() });
  const limits = [undefined, 2000, 100_000, Infinity];
  const ofSize = (maxResultBytes: number | undefined) =>
    t.procedure
      .meta({ mcp: { description: 'A text.', ...(maxResultBytes !== undefined && { maxResultBytes }) } })
      .input(input)
      .query((options) => 'a'.repeat(options.input.size));
  const procedures = Object.fromEntries(limits.map((each) => [`limit${each}`, ofSize(each)]));
  const running = await inProcess(procedures);
  for (const each of limits) {
    const most = Math.min(each ?? 80_000, 1_000_000);
    const sizes = [most, most + 1].map((size) => callTool(running.server, `limit${each}`, { size }));
    const errors = (await Promise.all(sizes)).map(({ isError = false }) => isError);
    expect(errors).toEqual([false, each !== Infinity]);
  }
  const hints = (await listTools(running.server)).map((each) => Reflect.get(each, '_meta') as unknown);
  const hint = 'anthropic/maxResultSizeChars';
  expect(hints).toEqual([undefined, undefined, { [hint]: 100_000 }, { [hint]: 500_000 }]);
});
