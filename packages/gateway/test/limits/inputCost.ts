import { createGateway } from 'trpc-gateway';
import { mcp } from 'trpc-gateway/mcp';
import type { GatewayMeta } from 'trpc-gateway/procedures';
import { initTRPC } from '@trpc/server';
import { z } from 'zod';
import { currentHeaders, currentMeta, post } from '../mcp/messages.ts';
import { serve } from '../servers.ts';
import { socketClient } from '../socketClient.ts';
import type { Random } from '../random.ts';

const text = z.string();
const template = (...parts: Parameters<typeof z.templateLiteral>[0]) => z.templateLiteral(parts);

/** Every format and every check of zod that reads a text, and the conversions of texts. */
const formats: Readonly<Record<string, z.ZodType>> = {
  string: text,
  url: z.url(),
  urlNormalized: z.url({ normalize: true }),
  urlOfHost: z.url({ hostname: /^example\.com$/ }),
  urlWithMaximum: z.url().max(2048),
  urlAsCheck: text.check(z.url()),
  httpUrl: z.httpUrl(),
  email: z.email(),
  html5Email: z.email({ pattern: z.regexes.html5Email }),
  rfc5322Email: z.email({ pattern: z.regexes.rfc5322Email }),
  unicodeEmail: z.email({ pattern: z.regexes.unicodeEmail }),
  hostname: z.hostname(),
  domain: z.stringFormat('domain', z.regexes.domain),
  ipv4: z.ipv4(),
  ipv6: z.ipv6(),
  cidrv4: z.cidrv4(),
  cidrv6: z.cidrv6(),
  mac: z.mac(),
  base64: z.base64(),
  base64url: z.base64url(),
  jwt: z.jwt({ alg: 'HS256' }),
  emoji: z.emoji(),
  nanoid: z.nanoid(),
  cuid: z.string().check(z.cuid()),
  cuid2: z.cuid2(),
  ulid: z.ulid(),
  xid: z.xid(),
  ksuid: z.ksuid(),
  uuid: z.uuid(),
  guid: z.guid(),
  e164: z.e164(),
  creditCard: z.creditCard(),
  iban: z.iban(),
  currency: z.currencyCode(),
  hex: z.hex(),
  hash: z.hash('sha256'),
  date: z.iso.date(),
  time: z.iso.time(),
  datetime: z.iso.datetime({ offset: true, local: true }),
  duration: z.iso.duration(),
  extendedDuration: z.stringFormat('duration', z.regexes.extendedDuration),
  lengths: text.min(3).max(5).length(4),
  cases: text.lowercase().uppercase(),
  parts: text.includes('xx').startsWith('x').endsWith('y'),
  nfc: text.normalize(),
  nfd: text.normalize('NFD'),
  nfkc: text.normalize('NFKC'),
  nfkd: text.normalize('NFKD'),
  normalizedUrl: text.normalize().check(z.url()),
  trim: text.trim().toLowerCase().toUpperCase(),
  slugify: text.slugify(),
  stringbool: z.stringbool(),
  number: z.coerce.number(),
  bigint: text.pipe(z.coerce.bigint()),
  coercedDate: z.coerce.date(),
  coercedText: z.coerce.string().normalize(),
  enum: z.enum(['a', 'b']),
  literal: z.literal('a'),
  codec: z.codec(text, z.url(), { decode: (value) => `${value}/`, encode: String }),
  templateOfTexts: template(text, 'x', text, 'x', text, 'y'),
  templateOfPaths: template('a', text, '.', text, '/', text, 'y'),
  templateOfTwo: template(text, '-', text, 'y'),
  templateOfNumbers: template(z.number(), '-', z.number(), '-', z.int(), '-', z.bigint(), 'y'),
  templateOfDigits: template(z.int(), z.number(), z.int(), 'y'),
  templateOfTextAndNumber: template(text, 'x', text, '1', z.number(), 'y'),
  templateOfEmails: template(z.email(), '.', z.email(), '-', text, 'y'),
  templateOfBounded: template(text.max(10_000), 'x', text.max(10_000), 'x', text.max(10_000), 'y'),
  templateOfUnions: template(z.union([text, z.number()]), 'x', text.optional(), 'y', z.boolean()),
  templateOfTemplates: template(template(text, 'x', text, 'x'), template(text, 'x'), 'y'),
  templateOfUnionOfTemplates: template(z.union([template(text, 'x', text, 'x', text), z.literal('a')]), 'y'),
  templateOfAdjacent: template(text.min(1), z.email()),
  templateOfBase64: template(z.base64(), z.base64url(), z.hex(), '!'),
};

const json: z.ZodType = z.json();
const list: z.ZodType = z.lazy(() => z.array(list));
const branch: z.ZodType = z.lazy(() => z.object({ a: z.array(branch).optional() }));
const node = z.object({
  get a() {
    return z.array(node).optional();
  },
});

/** A syntax tree: each level matches two options of a union, which differ in their last member. */
const tree: z.ZodType = z.lazy(() =>
  z.union([z.object({ a: tree, k: z.literal('x') }), z.object({ a: tree, k: z.literal('y') }), z.null()]),
);

/** Schemas of many values. */
const containers: Readonly<Record<string, z.ZodType>> = {
  json,
  list,
  branch,
  tree,
  trees: z.array(tree),
  checkedList: z.array(text.min(3).max(2).regex(/x/)),
  listOrList: z.union([z.array(text), z.array(z.boolean()), z.record(text, text)]),
  unionsOfLists: z.array(z.union([z.array(text), z.array(z.number()), z.object({ a: z.array(z.null()) })])),
  keys: z.record(z.uuid(), z.record(text, z.array(text))),
  node: z.array(node),
  record: z.record(text, text),
  recordOfIds: z.record(z.uuid(), text),
  recordOfUrls: z.record(z.url(), z.number()),
  recordOfJson: z.record(text, json),
  partialRecord: z.partialRecord(text.startsWith('a'), text),
  dates: z.array(z.object({ d: z.date().optional() })),
  objects: z.array(z.object({ a: text.optional() })),
  loose: z.looseObject({}),
  strict: z.strictObject({ a: text.optional() }),
  catchall: z.object({}).catchall(text),
  intersection: z.intersection(z.record(text, z.any()), z.object({})),
  unions: z.array(z.union([text, z.array(z.any()), z.object({})])),
  discriminated: z.array(
    z.discriminatedUnion('a', [z.object({ a: z.literal(1) }), z.object({ a: z.literal('b'), d: z.url() })]),
  ),
  transforms: z.array(text.transform(Number)),
  unionsWithTransforms: z.array(
    z.union([text.transform(Number), z.object({ a: text.transform(Number) }), z.boolean()]),
  ),
  preprocessed: z.preprocess((value) => value, z.array(z.union([text, z.null()]))),
  tuple: z.tuple([text], z.union([z.array(z.null()), z.object({})])),
};

/** Schemas around a format, each with a function that puts texts into its JSON. */
const placesOfText: Readonly<
  Record<
    string,
    readonly [schema: (format: z.ZodType) => z.ZodType, value: (texts: readonly string[]) => unknown]
  >
> = {
  text: [(format) => format, ([first]) => first],
  list: [(format) => z.array(format), (texts) => texts],
  values: [(format) => z.record(z.string(), format), (texts) => Object.fromEntries(texts.entries())],
  names: [
    (format) => z.record(format as z.ZodType<string, string>, z.number()),
    (texts) => Object.fromEntries(texts.map((each, index) => [each, index])),
  ],
  union: [(format) => z.array(z.union([z.number(), format, z.object({ a: format })])), (texts) => texts],
  objects: [
    (format) => z.array(z.object({ a: format.optional(), b: z.number().default(1) })),
    (texts) => texts.map((a) => ({ a })),
  ],
  tuple: [(format) => z.tuple([z.string()], format), (texts) => ['', ...texts]],
  parsed: [
    (format) => z.preprocess((value) => JSON.parse(String(value)) as unknown, z.array(format)),
    (texts) => JSON.stringify(texts),
  ],
};

const han = (length: number) =>
  Array.from({ length }, (_, index) => String.fromCharCode(0x4e00 + ((index * 7919) % 20_000))).join('');

const repeat = (unit: string) => (bytes: number) => unit.repeat(Math.ceil(bytes / Buffer.byteLength(unit)));
const between = (start: string, unit: string, end: string) => (bytes: number) =>
  `${start}${repeat(unit)(bytes)}${end}`;

/** Texts of about a size that formats may find hard. */
const hardTexts: Readonly<Record<string, (bytes: number) => string>> = {
  ...Object.fromEntries(
    'x 1 . - : @ / " \\ \n = + 中 İ 😀 ﷺ \u0000 a. a- a@ 1: 1. xx- x1 x1- 1- -_ a= :: %E4 \u20e3x a\u0301'
      .split(' ')
      .concat(' ')
      .map((unit) => [JSON.stringify(unit), repeat(unit)]),
  ),
  han: (bytes) => `http://${han(bytes / 3)}`,
  hanHost: (bytes) => `https://user:a@${han(bytes / 3)}.example/`,
  hanFile: (bytes) => `\tfi\nle:${han(bytes / 3)}`,
  hanEscaped: (bytes) => `ws:\\\\${encodeURIComponent(han(bytes / 9))}`,
  hanPath: (bytes) => `http://a/${han(bytes / 3)}`,
  hanOpaque: (bytes) => `data:${han(bytes / 3)}`,
  hangul: (bytes) =>
    `http://${Array.from({ length: bytes / 3 }, (_, index) => String.fromCharCode(0xac00 + ((index * 7919) % 11_000))).join('')}`,
  host: between('http://', 'a.', '/'),
  hostOfArabic: between('http://', 'ﷺ', ''),
  hostOfMarks: between('http://a', '\u0307\u0323', ''),
  user: between('http://', 'a@', 'a'),
  dotSegments: between('http://a/', 'a/', '/../'.repeat(100)),
  punycode: between('http://xn--', 'a', ''),
  marks: between('a', '\u0307\u0323', ''),
  kana: between('a', '\uff9e\u0301', ''),
  thai: between('a', '\u0e38\u0e48', ''),
  emailName: between('', 'a.', '@a'),
  emailHost: between('a@', 'a.', '1'),
  quoted: between('"', 'a"', '"@a.b'),
  digits: between('-', '1', 'x'),
  durationOfDigits: between('P', '1', 'W'),
  fraction: between('2020-01-01T00:00:00.', '1', 'x'),
  keycap: between('', '1', '\u20e3'),
  base64: between('', 'AAAA', '='),
};

/** Number of the pieces' sizes: the number of texts in an input is its size divided by that of a piece. */
const pieceSizes = [80, 750, 2000, 20_000, Infinity];
/** What a body of `maxBodySize` has room for, beside the rest of a message. */
const maxInputBytes = 1_040_000;
const inputSizes = [200, 2000, 20_000, 65_000, 200_000, 990_000];

const fill = (unit: string, bytes: number) =>
  Array(Math.max(0, Math.ceil(bytes / (unit.length + 1))))
    .fill(unit)
    .join(',');

function names(bytes: number, value: string): string {
  const members: string[] = [];
  for (let length = 0; length < bytes; length += (members.at(-1)?.length ?? 0) + 1)
    members.push(`"${members.length.toString(36)}":${value}`);
  return `{${members.join(',')}}`;
}

/** JSON of about a size with many values. */
const manyValues: Readonly<Record<string, (bytes: number) => string>> = {
  ...Object.fromEntries(
    [
      '[]',
      '{}',
      '1',
      '""',
      'null',
      '{"a":[]}',
      '{"a":1}',
      '{"d":{}}',
      '[[[[]]]]',
      '{"b":1,"c":1}',
      '{"a":"b"}',
    ].map((unit) => [unit, (bytes: number) => `[${fill(unit, bytes)}]`]),
  ),
  // As deep as `maxJsonDepth` allows.
  levels: () => `${'{"a":'.repeat(90)}null${',"k":"z"}'.repeat(90)}`,
  levelsOfMany: (bytes) => `${'{"a":'.repeat(90)}[${fill('1', bytes - 1500)}]${',"k":"z"}'.repeat(90)}`,
  objectsOfNames: (bytes) =>
    `[${Array.from({ length: Math.ceil(bytes / 9000) }, (_, at) => names(9000, String(at))).join()}]`,
  namesOfNumbers: (bytes) => names(bytes, '1'),
  namesOfTexts: (bytes) => names(bytes, '""'),
  namesOfLists: (bytes) => names(bytes, '[]'),
};

/** One input: the procedure, and the JSON of its property `value`. */
export interface CostlyInput {
  readonly procedure: string;
  readonly json: string;
  readonly name: string;
}

/**
 * Lists an input for each format, text and size, at a random place and in random pieces, and for each container, kind of
 * many values and size.
 */
export function costlyInputs(random: Random): readonly (() => CostlyInput)[] {
  return inputSizes.flatMap((size) => {
    const values = pairs(containers, manyValues).map(([procedure, name]) => () => ({
      procedure,
      json: manyValues[name]?.(size) ?? '',
      name: `${size} bytes of ${name} for ${procedure}`,
    }));
    const texts = pairs(formats, hardTexts).map(([format, kind]) => () => {
      const place = random.pick(Object.keys(placesOfText));
      return textInput([format, place, kind, size, random.pick(pieceSizes)]);
    });
    return values.concat(texts);
  });
}

const pairs = (first: object, second: object) =>
  Object.keys(first).flatMap((one) => Object.keys(second).map((other) => [one, other] as const));

/** A text of a size, in pieces of a size, at a place of a schema with a format. */
export type TextInput = [format: string, place: string, kind: string, size: number, piece: number];

/** Creates an input of texts. Those that JSON escapes are shorter. */
export function textInput([format, place, kind, size, piece]: TextInput): CostlyInput {
  const create = hardTexts[kind];
  const [, value] = placesOfText[place] ?? [];
  if (!create || !value) throw new Error(`${kind} or ${place} is unknown.`);
  const jsonSize = (bytes: number) => JSON.stringify(create(bytes)).length / Buffer.byteLength(create(bytes));
  const bytes = Math.min(size, piece) / Math.max(1, jsonSize(100));
  const one = create(bytes);
  const texts = Array.from(
    { length: Math.max(1, Math.floor(size / (Buffer.byteLength(JSON.stringify(one)) + 10))) },
    (_, index) => (place === 'names' ? `${one}${index}` : one),
  );
  const written = JSON.stringify(value(texts));
  // Escapes that are escaped again. A longer body would be rejected before it is read.
  if (Buffer.byteLength(written) > maxInputBytes) {
    return textInput([format, place, kind, size / 2, piece]);
  }
  return {
    procedure: `${format}_${place}`,
    json: written,
    name: `${texts.length} times ${kind} of ${bytes} bytes for ${format} (${place})`,
  };
}

/** Sends an input by a protocol. */
type Send = (input: CostlyInput) => Promise<void>;

/** Throws for a response that is neither the output `ok` nor the error of an invalid input. */
function requireOutcome(response: string): void {
  const isOutput = /^"ok"$|"data":"ok"|"text":"(?:ok|\\"ok\\")"/.test(response);
  if (isOutput || /\\?"code\\?":\\?"BAD_REQUEST\\?"/.test(response)) return;
  throw new Error(`The response is neither the output nor the error of an input: ${response.slice(0, 500)}`);
}

/** Starts a gateway with a procedure for each schema, and returns the protocols that call them. */
export async function startInputCost(): Promise<{
  readonly send: Readonly<Record<'rest' | 'trpc' | 'mcp' | 'form' | 'socket', Send>>;
  readonly close: () => Promise<unknown>;
}> {
  const t = initTRPC.meta<GatewayMeta>().create();
  const all: Record<string, z.ZodType> = { ...containers };
  for (const [name, format] of Object.entries(formats)) {
    for (const [place, [schema]] of Object.entries(placesOfText)) all[`${name}_${place}`] = schema(format);
  }
  const router = t.router(
    Object.fromEntries(
      Object.entries(all).map(([name, schema]) => [
        name,
        t.procedure
          .input(z.object({ value: schema }))
          .meta({
            openapi: {
              method: 'POST',
              path: `/${name}`,
              ...(name.endsWith('_text') && { contentTypes: ['application/json', 'multipart/form-data'] }),
            },
            mcp: { description: 'Takes a value.' },
          })
          .mutation(() => 'ok'),
      ]),
    ),
  );
  const gateway = await createGateway({
    router,
    createContext: () => ({}),
    document: { title: 'Input cost', version: '1.0.0' },
    mcp: mcp(),
    onError: () => {},
  });
  const server = await serve(gateway);
  const client = socketClient(server);
  const sendJson =
    (basePath: string): Send =>
    async ({ json: value, procedure }) => {
      const body = `{"value":${value}}`;
      const headers = { 'content-type': 'application/json' };
      const init = { method: 'POST', headers, body };
      requireOutcome(await (await server.fetch(`${server.origin}${basePath}/${procedure}`, init)).text());
    };
  return {
    send: {
      rest: sendJson('/v1'),
      trpc: sendJson('/trpc'),
      async mcp({ json: value, procedure }) {
        // Written, not encoded: the time of the client counts too.
        const params = `{"name":"${procedure}","arguments":{"value":${value}},"_meta":${JSON.stringify(currentMeta)}}`;
        const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params}}`;
        requireOutcome((await post(server, body, currentHeaders('tools/call', procedure))).text);
      },
      async form({ json: value, procedure }) {
        const body = new FormData();
        body.set('value', String(JSON.parse(value)));
        const response = await server.fetch(`${server.origin}/v1/${procedure}`, { method: 'POST', body });
        requireOutcome(await response.text());
      },
      async socket({ json: value, procedure }) {
        const message = `{"id":1,"method":"mutation","params":{"path":"${procedure}","input":{"value":${value}}}}`;
        const [response] = await client.exchange(message);
        requireOutcome(String(response));
      },
    },
    async close() {
      client.terminate();
      return server.close();
    },
  };
}
