import { TRPCError } from '@trpc/server';
import { expect, it } from 'vitest';
import { z } from 'zod';
import type { Gateway } from '../../gateway.ts';
import type { ResponseControls } from '../../http/response.ts';
import type { IdempotencyKeyUse } from '../../procedures/meta.ts';
import { t, testGateway } from '../../testing/testGateway.ts';
import {
  callTool,
  listTools,
  revisions,
  type Revision,
  send,
  type ToolResult,
} from '@petstore/testing/mcpMessages';
import { mcp } from './index.ts';

/** Where a key is in a message, and in its headers. */
interface Places {
  readonly meta?: unknown;
  readonly beside?: unknown;
  readonly header?: string;
  readonly argument?: unknown;
}

async function serve(use: IdempotencyKeyUse, input: z.ZodType = z.object({ text: z.string() })) {
  const inputs: unknown[] = [];
  const keys: unknown[] = [];
  const router = t.router({
    note: t.procedure
      .meta({ idempotencyKey: use, mcp: { description: 'Adds a note.' } })
      .input(input)
      .mutation(({ input: received, ctx }) => {
        const { key, response } = ctx as { readonly key?: string; readonly response: ResponseControls };
        if (use === 'handled' && key !== undefined && keys.includes(key)) response.replayed();
        inputs.push(received);
        keys.push(key);
        return { count: keys.length };
      }),
  });
  const gateway = await testGateway(router, {
    mcp: mcp(),
    createContext: ({ idempotencyKey, response }) => ({ key: idempotencyKey, response }),
  });
  return { gateway, inputs, keys };
}

let messages = 0;
async function note(
  gateway: Pick<Gateway, 'fetch'>,
  { argument, beside, header, meta }: Places,
  args: object | null = { text: 'a' },
) {
  const id = (messages += 1);
  const params = {
    name: 'note',
    ...((args !== null || argument !== undefined) && {
      arguments: { ...args, ...(argument !== undefined && { idempotencyKey: argument }) },
    }),
    ...(beside !== undefined && { idempotencyKey: beside }),
  };
  const headers = header === undefined ? {} : { 'idempotency-key': header };
  const reply = await send(gateway, 'tools/call', params, {
    id,
    headers,
    revision: '2025-11-25',
    meta: meta === undefined ? {} : { idempotencyKey: meta },
  });
  // Not that of the request that a replay repeats.
  expect(reply.message?.id).toBe(id);
  return {
    result: reply.message?.result as unknown as ToolResult,
    isReplayed: reply.headers.get('idempotent-replayed') === 'true',
  };
}

const errorOf = ({ result }: { readonly result: ToolResult }) => {
  expect(result.isError).toBe(true);
  return JSON.parse(result.content[0]?.text ?? '') as { readonly status: number; readonly message: string };
};

async function schemaOf(gateway: Pick<Gateway, 'fetch'>) {
  const [tool] = await listTools(gateway);
  return tool?.inputSchema as {
    readonly properties: Readonly<Record<string, object>>;
    readonly required?: readonly string[];
  };
}

const replayed = { 'io.github.trpc-gateway/replayed': true };
const key = '2f1c6a52-8a3e-4f0e-9f5e-0d6b1c7a9e11';
const places: readonly Places[] = [{ meta: key }, { beside: key }, { header: key }, { argument: key }];
const pairs = places.flatMap((first) => places.map((second) => [first, second] as const));

it.each(pairs)(
  'a call with its key in %j runs once, and its repeat with the key in %j is replayed and says so',
  async (first, second) => {
    const { gateway, inputs, keys } = await serve('optional');
    const stored = await note(gateway, first);
    expect(stored).toMatchObject({ isReplayed: false, result: { content: [{ text: '{"count":1}' }] } });
    expect(stored.result._meta).toBeUndefined();
    expect(await note(gateway, second)).toEqual({
      isReplayed: true,
      result: { ...stored.result, _meta: replayed },
    });
    expect([inputs, keys]).toEqual([[{ text: 'a' }], [key]]);
    expect(errorOf(await note(gateway, second, { text: 'b' }))).toMatchObject({ status: 422 });
  },
);

it.each(places)(
  'a procedure that handles the key of %j receives it, and its result says that it called response.replayed()',
  async (place) => {
    const { gateway, keys } = await serve('handled');
    expect((await note(gateway, place)).result._meta).toBeUndefined();
    const again = await note(gateway, place);
    expect(again).toMatchObject({ isReplayed: true, result: { _meta: replayed } });
    expect(keys).toEqual([key, key]);
  },
);

const line = z.looseObject({ title: z.string() });
const lines = z.object({ text: z.string(), lines: z.array(line).optional(), to: line.optional() });

it('a repeat may have the key and members at any depth in another order, as a model writes them', async () => {
  const first = {
    idempotencyKey: key,
    text: 'a',
    lines: [{ title: 'b', of: { x: 1, y: [] } }, { title: 'c' }],
  };
  const second = {
    lines: [{ of: { y: [], x: 1 }, title: 'b' }, { title: 'c' }],
    text: 'a',
    idempotencyKey: key,
  };
  for (const use of ['optional', 'required'] as const) {
    const { gateway, keys } = await serve(use, lines);
    const stored = await note(gateway, {}, first);
    expect(stored.result.isError).toBeUndefined();
    expect(await note(gateway, {}, second)).toEqual({
      isReplayed: true,
      result: { ...stored.result, _meta: replayed },
    });
    expect(keys).toEqual([key]);
  }
});

it.each<[what: string, other: object]>([
  ['another value', { text: 'b', lines: [{ title: 'b' }, { title: 'c' }] }],
  ['another argument', { text: 'a', lines: [{ title: 'b' }, { title: 'c' }], to: { title: 'd' } }],
  ['a list in another order', { text: 'a', lines: [{ title: 'c' }, { title: 'b' }] }],
  ['a value that moved to another object', { text: 'a', lines: [{ title: 'b', x: 1 }, { title: 'c' }] }],
])(
  'the same key with %s is 422, whose message leads to the same arguments before a new key',
  async (_what, other) => {
    const { gateway, keys } = await serve('required', lines);
    await note(gateway, { argument: key }, { text: 'a', lines: [{ title: 'b' }, { title: 'c', x: 1 }] });
    expect(errorOf(await note(gateway, { argument: key }, other))).toEqual({
      code: 'UNPROCESSABLE_CONTENT',
      status: 422,
      message:
        'Idempotency-Key: was used with another input, or over another protocol. To repeat that call, send it again as it was; use a new key only for another action.',
    });
    expect(keys).toEqual([key]);
  },
);

const outcomes: readonly [what: string, outcome: () => unknown][] = [
  ['an object', () => ({ id: 1 })],
  ['a list', () => [1, 2]],
  ['no output', () => undefined],
  ['a text like the end of a result', () => ',"resultType":"complete"}'],
  ['bytes', () => new Uint8Array([1, 2, 3])],
  [
    'an error',
    () => {
      throw new TRPCError({ code: 'NOT_FOUND', message: 'There is no such note.' });
    },
  ],
];

async function serveRuns(outcome: () => unknown) {
  let runs = 0;
  const run = t.procedure.meta({ idempotencyKey: 'optional', mcp: { description: 'Runs.' } }).mutation(() => {
    runs += 1;
    return outcome();
  });
  const gateway = await testGateway(t.router({ run }), { mcp: mcp(), onError() {}, onResponse() {} });
  const call = (args: object, revision: Revision) => callTool(gateway, 'run', args, { revision });
  return { call, runs: () => runs };
}

it.each(
  revisions.flatMap((first) =>
    revisions.flatMap((second) => outcomes.map(([what, outcome]) => ({ first, second, what, outcome }))),
  ),
)(
  'a call in $first with $what is replayed in $second, as results are there',
  async ({ first, second, outcome }) => {
    const { call, runs } = await serveRuns(outcome);
    await call({ idempotencyKey: key }, first);
    const fresh = await call({}, second);
    expect(await call({ idempotencyKey: key }, second)).toEqual({ ...fresh, _meta: replayed });
    expect(runs()).toBe(2);
  },
);

it('an unexpected error does not keep its key', async () => {
  const { call, runs } = await serveRuns(() => {
    throw new Error('disk on fire');
  });
  for (let sent = 0; sent < 2; sent += 1) {
    expect(await call({ idempotencyKey: key }, '2025-11-25')).toMatchObject({ isError: true });
  }
  expect(runs()).toBe(2);
});

it.each<[Places, Places]>([
  [{ meta: key, beside: key, header: key, argument: key }, { argument: key }],
  [{ argument: `"${key}"` }, { header: key }],
  [{ header: `"${key}"`, meta: key }, { beside: key }],
])('a call may have its key in several places, with and without quotes: %j', async (first, second) => {
  const { gateway, keys } = await serve('optional');
  await note(gateway, first);
  expect((await note(gateway, second)).isReplayed).toBe(true);
  expect(keys).toEqual([key]);
});

it.each<[Places, string]>([
  [{ meta: 'a', argument: 'b' }, 'params._meta.idempotencyKey and arguments.idempotencyKey'],
  [{ beside: 'a', header: 'b' }, 'params.idempotencyKey and the header Idempotency-Key'],
  [{ meta: 'a', beside: 'b' }, 'params._meta.idempotencyKey and params.idempotencyKey'],
])('a call with two keys, %j, runs nothing', async (two, names) => {
  const { gateway, keys } = await serve('optional');
  expect(errorOf(await note(gateway, two))).toMatchObject({
    code: 'BAD_REQUEST',
    status: 400,
    message: `The call has different idempotency keys in ${names}. Send one key.`,
  });
  expect(keys).toEqual([]);
});

const malformed = ['', ' ', 'two words', 'a'.repeat(256), 'é', '"open', 5, null, true, { key }, [key]];
it.each(malformed.flatMap((value) => ['meta', 'beside', 'argument'].map((place) => [place, value] as const)))(
  'a call whose key in %s is %j is 400, and runs nothing',
  async (place, value) => {
    for (const use of ['optional', 'required', 'handled'] as const) {
      const { gateway, keys } = await serve(use);
      const name = {
        meta: 'params._meta.idempotencyKey',
        beside: 'params.idempotencyKey',
        argument: 'idempotencyKey',
      }[place];
      expect(errorOf(await note(gateway, { [place]: value }))).toMatchObject({
        status: 400,
        message: `${name}: must be a string of 1 to 255 visible ASCII characters, bare or in double quotes, as in the header Idempotency-Key. A new UUID is one.`,
      });
      expect(keys).toEqual([]);
    }
  },
);

it('a tool that requires a key rejects a call without one, and names the places of a key', async () => {
  const { gateway, keys } = await serve('required');
  expect(errorOf(await note(gateway, {}))).toEqual({
    code: 'BAD_REQUEST',
    status: 400,
    message:
      'idempotencyKey: is required. Send a new UUID for each new action and the same one to repeat it, as this argument, as params.idempotencyKey, as params._meta.idempotencyKey or as the header Idempotency-Key.',
  });
  for (const place of places) await note(gateway, place);
  expect(keys).toEqual([key]);
});

it.each<[IdempotencyKeyUse, readonly string[]]>([
  ['optional', ['text']],
  ['handled', ['text']],
  ['required', ['text', 'idempotencyKey']],
])('the schema of a tool with idempotencyKey: %j has the key as an argument', async (use, required) => {
  const { gateway } = await serve(use);
  const schema = await schemaOf(gateway);
  expect(Object.keys(schema.properties)).toEqual(['text', 'idempotencyKey']);
  expect(schema.properties['idempotencyKey']).toEqual({
    type: 'string',
    description:
      'A new random UUID for each action; to repeat a call whose result you did not receive, send the same UUID and the same arguments, and it runs only once.',
  });
  expect(schema.required).toEqual(required);
});

it('the schema of a tool without idempotencyKey has no such argument, and its procedure sees what it is sent', async () => {
  const inputs: unknown[] = [];
  const gateway = await testGateway(
    t.router({
      note: t.procedure
        .meta({ mcp: { description: 'Adds a note.' } })
        .input(z.looseObject({}))
        .mutation(({ input }) => inputs.push(input)),
    }),
    { mcp: mcp() },
  );
  expect((await schemaOf(gateway)).properties).toEqual({});
  await note(gateway, { argument: 'a', meta: 'b' });
  expect(inputs).toEqual([{ text: 'a', idempotencyKey: 'a' }]);
});

it.each<[input: z.ZodType, args: object | null, received: unknown]>([
  [z.strictObject({ text: z.string() }), { text: 'a' }, { text: 'a' }],
  [z.looseObject({}), { text: 'a' }, { text: 'a' }],
  [z.object({ text: z.string() }).or(z.object({ id: z.int() })), { id: 1 }, { id: 1 }],
  [z.void(), null, undefined],
  [z.object({ text: z.string() }).optional(), null, undefined],
  [z.object({ text: z.string().optional() }), null, {}],
  [z.object({ text: z.string().optional() }), {}, {}],
  // Beside a key, arguments without a member say the same as none.
  [z.object({ text: z.string().optional() }).optional(), null, undefined],
  [z.object({ text: z.string().optional() }).optional(), {}, undefined],
])(
  'an input without the key stays the same with it, as an argument too: case %#',
  async (input, args, received) => {
    for (const use of ['optional', 'required', 'handled'] as const) {
      const { gateway, inputs } = await serve(use, input);
      expect(Object.keys((await schemaOf(gateway)).properties)).toContain('idempotencyKey');
      for (const place of places) {
        const { result, isReplayed } = await note(gateway, place, args);
        expect([result.isError, isReplayed]).toEqual([undefined, place !== places[0]]);
      }
      expect(new Set(inputs.map((each) => JSON.stringify(each)))).toEqual(
        new Set([JSON.stringify(received)]),
      );
    }
  },
);

// Inputs that a program could send: packages/gateway/test/mcp/unions.test.ts.
it('a key is a valid argument of a tool whose input limits the names and the number of its properties', async () => {
  const patternProperties = { '^(?:a|idem)': { type: 'number' } };
  const limits = { patternProperties, additionalProperties: false, maxProperties: 1 };
  const { gateway } = await serve('required', z.any().meta({ type: 'object', ...limits }));
  const { properties, ...others } = await schemaOf(gateway);
  expect(Object.keys(properties)).toEqual(['idempotencyKey']);
  expect(others).toEqual({ type: 'object', required: ['idempotencyKey'] });
});

it.each<[input: z.ZodType]>([
  [z.object({ idempotencyKey: z.string() })],
  [z.object({ text: z.string(), idempotencyKey: z.string().optional() })],
  [z.union([z.object({ text: z.string() }), z.object({ idempotencyKey: z.uuid() })])],
  [z.record(z.enum(['text', 'idempotencyKey']), z.string())],
])(
  'createGateway rejects a tool with a key whose input has a property of that name: case %#',
  async (input) => {
    for (const use of ['optional', 'required', 'handled'] as const) {
      await expect(serve(use, input)).rejects.toThrow(
        'Procedure "note" cannot be a tool: its input has a property idempotencyKey, and a tool whose metadata has idempotencyKey receives the key of a call as an argument of that name; rename the property, or remove it and read the key in createContext, or remove idempotencyKey from the metadata.',
      );
    }
  },
);

it('the input in a reported error does not have the key', async () => {
  const reported: unknown[] = [];
  const fails = t.procedure
    .meta({ idempotencyKey: 'required', mcp: { description: 'Adds a note.' } })
    .input(z.object({ text: z.string() }))
    .mutation(() => {
      throw new Error('The disk is full.');
    });
  const gateway = await testGateway(t.router({ note: fails }), {
    mcp: mcp(),
    onError: ({ input }) => reported.push(input),
  });
  await note(gateway, { argument: key });
  expect(reported).toEqual([{ text: 'a' }]);
});
