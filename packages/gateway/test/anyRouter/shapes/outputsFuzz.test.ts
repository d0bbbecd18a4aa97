import { createGateway, problemDetails, type ErrorFormat } from 'trpc-gateway';
import { trpcToOpenApiErrors } from 'trpc-gateway/trpc-to-openapi';
import { declareErrors, type GatewayMeta, type ResponseControls, type RestMeta } from 'trpc-gateway/meta';
import { inputs } from '@petstore/testing/forms';
import { initTRPC, TRPCError } from '@trpc/server';
import ajvFormats from 'ajv-formats';
import { Ajv2020 } from 'ajv/dist/2020.js';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { type OpenApiDocument, pointer, resolve, type Response as Documented } from '../../openApi.ts';

// Procedures return and throw what the request contains, valid or not. The document must allow every response.

const errors = declareErrors({
  OUT_OF_STOCK: { status: 409, message: 'Too few are left.', data: z.object({ left: z.int() }) },
  ALREADY_ORDERED: { status: 409, data: z.object({ orderId: z.string() }) },
  SHOP_CLOSED: { status: 423 },
  NAME_TAKEN: { status: 400, data: z.object({ name: z.string().max(3) }) },
  STOCK_UNKNOWN: { status: 503 },
});
const codes = Object.keys(errors).filter((name) => name === name.toUpperCase()) as (keyof typeof errors)[];

const Plan = z.object({
  status: z.int().optional(),
  throws: z.enum([...codes, 'NOT_FOUND', 'CONFLICT', 'UNEXPECTED']).optional(),
  message: z.string().optional(),
  // Optional, because JSON leaves out an output that is undefined.
  data: z.unknown().optional(),
  output: z.unknown().optional(),
});
type Plan = z.output<typeof Plan>;

function perform(response: ResponseControls, { status, throws, message, data, output }: Plan): unknown {
  response.status = status;
  if (throws === undefined) return output;
  if (throws === 'UNEXPECTED') throw new Error(message);
  const options = { cause: data, ...(message !== undefined && { message }) };
  if (throws === 'NOT_FOUND' || throws === 'CONFLICT') throw new TRPCError({ code: throws, ...options });
  throw (errors[throws] as (options: object) => Error)({ data, ...options });
}

const t = initTRPC.context<{ response: ResponseControls }>().meta<GatewayMeta>().create({ isDev: false });
const route = (path: `/${string}`, rest: Partial<RestMeta> = {}) =>
  t.procedure
    .meta({ openapi: { method: 'POST', path, errorResponses: [404, 409], ...rest } })
    .errors(errors)
    .input(Plan);
const Pet = z.object({ id: z.int(), name: z.string().optional() });
const Job = z.object({ jobId: z.string() });
const toText = (output: unknown) => `${JSON.stringify(output)}\n`;

const router = t.router({
  json: route('/json')
    .output(Pet)
    .mutation(({ ctx, input }) => perform(ctx.response, input) as never),
  optional: route('/optional')
    .output(Pet.optional())
    .mutation(({ ctx, input }) => perform(ctx.response, input) as never),
  undescribed: route('/undescribed').mutation(({ ctx, input }) => perform(ctx.response, input)),
  statuses: route('/statuses', { successStatus: [200, 202, 204] })
    .output(z.union([Pet, Job]).optional())
    .mutation(({ ctx, input }) => perform(ctx.response, input) as never),
  media: route('/media', {
    produces: { 'application/json': true, 'text/csv': toText, 'image/png': (output) => output },
  })
    .output(Pet)
    .mutation(({ ctx, input }) => perform(ctx.response, input) as never),
  both: route('/both', {
    produces: { 'application/json': true, 'text/csv': toText },
    successStatus: [200, 202, 204],
  })
    .output(z.union([Pet, Job]).optional())
    .mutation(({ ctx, input }) => perform(ctx.response, input) as never),
});
const paths = ['/json', '/optional', '/undescribed', '/statuses', '/media', '/both'];

const anyOutput = fc.oneof(
  fc.record({ id: fc.integer(), name: fc.string() }, { requiredKeys: ['id'] }),
  fc.record({ jobId: fc.string() }),
  fc.record({ jobId: fc.string(), secret: fc.string() }),
  fc.constant(undefined),
  fc.jsonValue(),
);
const anyErrorData = fc.oneof(
  fc.record({ left: fc.integer() }),
  fc.record({ orderId: fc.string(), secret: fc.string() }),
  fc.record({ name: fc.string({ maxLength: 4 }) }),
  fc.jsonValue(),
);
const anyPlan = fc.oneof(
  {
    weight: 9,
    arbitrary: fc.record(
      {
        status: fc.constantFrom(undefined, 200, 201, 202, 202, 202, 204, 500),
        throws: fc.option(fc.constantFrom(...codes, 'NOT_FOUND', 'CONFLICT', 'UNEXPECTED'), {
          nil: undefined,
          freq: 2,
        }),
        message: fc.string(),
        data: anyErrorData,
        output: anyOutput,
      },
      { requiredKeys: ['output'] },
    ),
  },
  { weight: 1, arbitrary: fc.jsonValue() },
);
const anyMediaType = fc.constantFrom(
  'application/json',
  'text/csv',
  'text/*',
  '*/*',
  'image/png',
  'application/xml',
  'x',
);
const anyAccept = fc.oneof(
  fc.constant(undefined),
  fc.array(fc.tuple(anyMediaType, fc.constantFrom('', ';q=0', ';q=0.5', ';q=1.0', ';q=y')), { maxLength: 3 }),
);
interface Call {
  readonly path: string;
  readonly plan: unknown;
  readonly accept: [type: string, quality: string][] | undefined;
  readonly contentType: string;
}

const anyCall: fc.Arbitrary<Call> = fc.record({
  path: fc.constantFrom(...paths),
  plan: anyPlan,
  accept: anyAccept,
  contentType: fc.constantFrom('application/json', 'application/json', 'application/json', 'text/plain'),
});

/** A call for each status. Random calls alone may have none with a status, such as 204. */
const callOfEachStatus = (
  [
    [200, '/json', { output: { id: 1 } }],
    [202, '/statuses', { status: 202, output: { jobId: 'a' } }],
    [204, '/optional', {}],
    [400, '/json', 5],
    [404, '/json', { throws: 'NOT_FOUND' }],
    [406, '/media', { output: { id: 1 } }, ['application/xml']],
    [409, '/json', { throws: 'ALREADY_ORDERED', data: { orderId: 'a' } }],
    [415, '/json', {}, undefined, 'text/plain'],
    [423, '/json', { throws: 'SHOP_CLOSED' }],
    [500, '/json', { throws: 'UNEXPECTED' }],
    [503, '/json', { throws: 'STOCK_UNKNOWN' }],
  ] as const
).map(([status, path, plan, accept, contentType = 'application/json']) => ({
  status,
  call: {
    path,
    plan,
    accept: accept?.map((type) => [type, ''] as [string, string]),
    contentType,
  },
}));

const formats: readonly (readonly [name: string, format: ErrorFormat | undefined])[] = [
  ['the default errors', undefined],
  ['problem details', problemDetails],
  ['trpcToOpenApiErrors', trpcToOpenApiErrors],
];

it.each(formats)(
  'the document allows every response to generated outputs and errors, with %s',
  async (_, errorFormat) => {
    const gateway = await createGateway({
      router,
      createContext: ({ response }) => ({ response }),
      document: { title: 'Shop', version: '1.0.0' },
      onResponse: () => {},
      ...(errorFormat && { errorFormat }),
    });
    const document = JSON.parse(JSON.stringify(await gateway.document())) as OpenApiDocument;
    const ajv = new Ajv2020({ strict: false });
    ajvFormats.default(ajv);
    ajv.addSchema({ ...document }, 'https://shop.example/openapi.json');
    const statuses = new Set<number>();

    await fc.assert(
      fc.asyncProperty(anyCall, async ({ path, plan: body, accept: accepted, contentType }) => {
        const headers = new Headers({ 'content-type': contentType });
        if (accepted) headers.set('accept', accepted.map((parts) => parts.join('')).join(', '));
        const init = { method: 'POST', headers, body: JSON.stringify(body) };
        const response = await gateway.fetch(new Request(`http://shop.example/v1${path}`, init));
        const { status } = response;
        statuses.add(status);
        const responses = document.paths[path]?.['post']?.responses ?? {};
        expect(Object.keys(responses)).toContain(String(status));
        const { content = {}, headers: described = {} } = resolve<Documented>(
          document,
          responses[status] ?? {},
        );
        const required = Object.keys(described).filter((name) => described[name]?.required);
        expect(required.filter((name) => !response.headers.has(name))).toEqual([]);
        const received = await response.text();
        const mediaType = response.headers.get('content-type') ?? '';
        const isEmpty = received === '' && mediaType === '' && Object.keys(content).length === 0;
        expect(isEmpty ? [''] : Object.keys(content)).toContain(mediaType);
        const isDescribed = mediaType.endsWith('json') && content[mediaType]?.schema !== undefined;
        const at = pointer(
          'paths',
          path,
          'post',
          'responses',
          String(status),
          'content',
          mediaType,
          'schema',
        );
        const validate = isDescribed ? ajv.getSchema(`https://shop.example/openapi.json${at}`) : () => true;
        expect([received, validate?.(isDescribed ? JSON.parse(received) : undefined)]).toEqual([
          received,
          true,
        ]);
      }),
      { numRuns: inputs(3400), examples: callOfEachStatus.map(({ call }): [typeof call] => [call]) },
    );
    expect([...statuses].toSorted((a, b) => a - b)).toEqual(callOfEachStatus.map(({ status }) => status));
  },
  60_000,
);
