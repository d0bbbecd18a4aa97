import { inputs } from '@petstore/testing/forms';
import { Ajv2020 } from 'ajv/dist/2020.js';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { callTool, listTools } from '@petstore/testing/mcpMessages';
import { combinators, providerProblems } from '@petstore/testing/providerProblems';
import { inProcess } from './serveTools.ts';
import { tool } from './toolRouter.ts';

const generatedInputs = inputs(1500, 60);

/** Serves a tool with chained inputs, and two with a key and the same inputs. */
async function serve(...chain: readonly z.ZodType[]) {
  let input: unknown;
  const build = (idempotencyKey?: 'optional' | 'required') =>
    chain.reduce(
      (all, each) => all.input(each as z.ZodObject) as unknown as typeof all,
      idempotencyKey ? tool.meta({ idempotencyKey }) : tool,
    );
  const keep = (call: { readonly input?: unknown }) => {
    input = call.input;
    return 1;
  };
  const { gateway, server } = await inProcess({
    tool: build().query(keep),
    optional: build('optional').mutation(keep),
    required: build('required').mutation(keep),
  });
  const tools = await listTools(server);
  const [inputSchema = {}, optional = {}, required = {}] = tools.map((each) => each.inputSchema);
  return {
    inputSchema,
    keyed: { optional, required },
    call: async (args: object | undefined, name = 'tool') => {
      input = undefined;
      const { content, isError } = await callTool(server, name, args);
      return { error: isError ? content : undefined, input };
    },
    /** Returns the input of the procedure for a call over tRPC. */
    query: async (sent: unknown) => {
      const parameter = sent === undefined ? '' : `?input=${encodeURIComponent(JSON.stringify(sent))}`;
      const response = await gateway.fetch(`http://localhost/trpc/tool${parameter}`);
      expect(response.status).toBe(200);
      return input;
    },
  };
}

/** A schema of a property, with values that it accepts. */
type Property = readonly [schema: z.ZodType, values: readonly unknown[]];

const properties: readonly Property[] = [
  [z.string(), ['', 'a']],
  [z.int().min(3), [3, 7]],
  [z.boolean(), [true, false]],
  [z.literal('x'), ['x']],
  [z.enum(['x', 'y']), ['x', 'y']],
  [z.literal([1, 2]), [1, 2]],
  [z.array(z.string()), [[], ['a']]],
  [z.object({ x: z.int() }), [{ x: 1 }]],
  [z.union([z.string().min(2), z.null()]), ['ab', null]],
  [z.int().nullable(), [1, null]],
  [z.string().optional(), ['a', undefined]],
  [z.int().default(4), [4, undefined]],
  [z.iso.date(), ['2026-01-31']],
  [z.email(), ['a@pets.example']],
  [z.date(), ['2026-01-31T12:00:00.000Z']],
  [z.string().nullable().meta({ title: 'T', description: 'D.' }), ['a', null]],
  [z.int().nullable().default(null), [1, null]],
  [z.enum(['', 'a']).nullable(), ['', 'a', null]],
  [z.literal(['a', 1, null]), ['a', 1, null]],
  [z.unknown(), [[[null]], { a: [1] }]],
  [z.json(), [[[null]], { a: [1] }]],
  [z.url(), ['https://pets.example/']],
  [z.base64(), ['YQ==']],
  [z.array(z.array(z.int().nullable())), [[], [[1, null]]]],
  [z.tuple([z.string(), z.array(z.boolean())]), [['a', [true]]]],
  [z.record(z.enum(['a', 'b']), z.int()), [{ a: 1, b: 2 }]],
];
const property = fc.constantFrom(...properties);

/** A schema, with a source of values for it. */
interface Sample {
  readonly schema: z.ZodType;
  readonly isObject: boolean;
  readonly value: fc.Arbitrary<unknown>;
  /**
   * Returns tests of names, one of which accepts all names of a value that is described: objects ignore others. What a union
   * accepts only since a member ignores it, such as a property of another member with a wrong type, is not described.
   */
  readonly describe: (value: unknown) => readonly ((name: string) => boolean)[];
}

function accepts(schema: z.ZodType, value: unknown): boolean {
  try {
    return schema.safeParse(value).success;
  } catch {
    // zod throws for two results that it cannot merge.
    return false;
  }
}

/** A sample whose values are described as a whole. */
const whole = (schema: z.ZodType, value: fc.Arbitrary<unknown>, isObject: boolean): Sample => ({
  schema,
  isObject,
  value,
  describe: (each) => (accepts(schema, each) ? [() => true] : []),
});

const name = fc.constantFrom('a', 'b', 'c', 'd');
const member: fc.Arbitrary<Sample> = fc.dictionary(name, property, { minKeys: 1 }).chain((shapes) => {
  const shape = Object.fromEntries(Object.entries(shapes).map(([key, [each]]) => [key, each]));
  const values = Object.entries(shapes).map(([key, [, all]]) => [key, fc.constantFrom(...all)]);
  const value = fc.record(Object.fromEntries(values) as Record<string, fc.Arbitrary<unknown>>);
  const others = fc.dictionary(fc.oneof(name, fc.constant('e')), fc.constantFrom('a', 5, true, null));
  const withOthers = fc.tuple(others, value).map((each): object => Object.assign({}, ...each) as object);
  return fc.oneof(
    fc.constantFrom(z.object, z.strictObject).map((create): Sample => ({
      schema: create(shape),
      isObject: true,
      value,
      describe: (each) => (accepts(z.object(shape), each) ? [(key) => Object.hasOwn(shape, key)] : []),
    })),
    fc.constant(whole(z.looseObject(shape), withOthers, true)),
    fc.constant(whole(z.object(shape).catchall(z.number()), withOthers, true)),
  );
});

const records: readonly ((schema: z.ZodType) => z.ZodType)[] = [
  (schema) => z.record(z.string(), schema),
  (schema) => z.record(z.string().regex(/^[a-d]$/), schema),
  (schema) => z.partialRecord(z.enum(['a', 'b', 'c', 'd']), schema),
  // A text of a date is no date there.
  (schema) => z.looseRecord(z.string().regex(/^[^e]/), schema instanceof z.ZodDate ? z.string() : schema),
];
const record = fc
  .tuple(property, fc.constantFrom(...records))
  .map(([[schema, values], create]) =>
    whole(create(schema), fc.dictionary(name, fc.constantFrom(...values)), true),
  );
const noObject = property
  // `z.object()` accepts a Date, which is no object in JSON.
  .filter(([schema, values]) => !values.some(isRecord) && !(schema instanceof z.ZodDate))
  .map(([schema, values]) => whole(schema, fc.constantFrom(...values), false));

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);

/** Parts that a value satisfies together. */
const both = (parts: readonly Sample[]): Sample => ({
  schema: parts.map(({ schema }) => schema).reduce((left, right) => z.intersection(left, right)),
  isObject: parts.every(({ isObject }) => isObject),
  value: fc
    .tuple(...parts.map(({ value }) => value))
    .map((values) => (values.every(isRecord) ? (Object.assign({}, ...values) as unknown) : values[0])),
  describe: (value) =>
    parts
      .map(({ describe }) => describe(value))
      .reduce((left, right) =>
        left.flatMap((one) => right.map((other) => (key: string) => one(key) || other(key))),
      ),
});

const { input } = fc.letrec<{ readonly input: Sample }>((tie) => {
  const parts = fc.array(tie('input'), { minLength: 2, maxLength: 3 });
  return {
    input: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      { arbitrary: member, weight: 5 },
      { arbitrary: record, weight: 1 },
      { arbitrary: noObject, weight: 1 },
      {
        arbitrary: parts.map((all) => ({
          schema: z.union(all.map(({ schema }) => schema)),
          isObject: all.every(({ isObject }) => isObject),
          value: fc.oneof(...all.map(({ value }) => value)),
          describe: (value: unknown) => all.flatMap(({ describe }) => describe(value)),
        })),
        weight: 5,
      },
      { arbitrary: parts.map(both), weight: 3 },
    ),
  };
});

const cases = fc.array(input, { minLength: 1, maxLength: 2 }).chain((chain) =>
  fc.array(both(chain).value, { minLength: 5, maxLength: 5 }).map((values) => ({
    chain,
    values,
    [fc.toStringMethod]() {
      const schemas = chain.map(({ schema }) =>
        z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }),
      );
      return JSON.stringify({ schemas, values });
    },
  })),
);

const dateText = '2026-01-31T12:00:00.000Z';

/** Replaces the texts of dates: a date is a text in JSON. */
function reviveDates(value: unknown): unknown {
  if (value === dateText) return new Date(dateText);
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, reviveDates(each)]));
}

it('the schema of a tool accepts what its input describes, which reaches the procedure as it is', async () => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  let accepted = 0;
  const check = fc.asyncProperty(cases, async ({ chain, values }) => {
    const { call, inputSchema, keyed, query } = await serve(...chain.map((each) => each.schema));
    expect(inputSchema).toMatchObject({ type: 'object', properties: {} });
    for (const word of combinators) expect(inputSchema).not.toHaveProperty(word);
    expect(providerProblems({ name: 'tool', inputSchema })).toEqual([]);
    const isWrapped = !chain.every(({ isObject }) => isObject);
    // zod's JSON Schema of an intersection with a strict object rejects properties that the intersection accepts (4.6).
    if (isWrapped && JSON.stringify(inputSchema).includes('"allOf"')) return;
    const validate = ajv.compile(inputSchema);
    const validateKeyed = [ajv.compile(keyed.optional), ajv.compile(keyed.required)] as const;
    for (const value of values) {
      const sent: unknown = value === undefined ? undefined : JSON.parse(JSON.stringify(value));
      const read = reviveDates(sent);
      if (!chain.every(({ schema }) => accepts(schema, read))) continue;
      // The arguments are an object, so `null` and nothing are not sent as the whole input.
      if (!isWrapped && !isRecord(read)) continue;
      const tests = both(chain).describe(read);
      if (isRecord(read) && !tests.some((test) => Object.keys(read).every(test))) continue;
      accepted += 1;
      const args = isWrapped ? { input: sent } : (sent as object);
      expect([validate(args), validate.errors, sent]).toEqual([true, null, sent]);
      const received = await call(args);
      expect(received.error).toBeUndefined();
      expect(validateKeyed.map((accept) => accept(args))).toEqual([true, false]);
      const withKey = { ...args, idempotencyKey: crypto.randomUUID() };
      for (const accept of validateKeyed)
        expect([accept(withKey), accept.errors, withKey]).toEqual([true, null, withKey]);
      // Without other arguments, a key is sent with none.
      const plain = Object.keys(args).length > 0 ? received : await call(undefined);
      for (const withUse of ['optional', 'required']) {
        const again = await call({ ...args, idempotencyKey: crypto.randomUUID() }, withUse);
        expect(again).toEqual({ error: undefined, input: plain.input });
      }
      // A client of tRPC sends no date without a transformer.
      if (JSON.stringify(sent ?? null).includes(dateText)) continue;
      expect(received.input).toEqual(await query(sent));
    }
  });
  await fc.assert(check, { numRuns: generatedInputs });
  expect(accepted).toBeGreaterThan(generatedInputs / 3);
}, 900_000);
