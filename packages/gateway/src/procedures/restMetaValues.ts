import type { RestMeta } from './meta.ts';
import { isStandardSchema } from './standardSchema.ts';
import { isErrorStatus, isSuccessStatus } from './errorCodes.ts';

interface FieldRule {
  readonly fits: (value: unknown) => boolean;
  /** A valid value, for the error message. */
  readonly example: string;
}

const isString = (value: unknown) => typeof value === 'string';
const isBoolean = (value: unknown) => typeof value === 'boolean';
const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isStringList = (value: unknown) => Array.isArray(value) && value.every(isString);

const stringRule = (example: string): FieldRule => ({ fits: isString, example });
const booleanRule = (example: string): FieldRule => ({ fits: isBoolean, example });

const rules = {
  path: stringRule("'/pets/{id}'"),
  operationId: stringRule("'listPets'"),
  summary: stringRule("'Lists pets.'"),
  description: stringRule("'Lists pets.'"),
  successDescription: stringRule("'The pets.'"),
  tags: { fits: isStringList, example: "['pets']" },
  enabled: booleanRule('false'),
  protect: booleanRule('false'),
  deprecated: booleanRule('true'),
  idempotencyKey: booleanRule('true'),
  contentTypes: { fits: isStringList, example: "['application/json']" },
  in: { fits: isRecord, example: "{ tenant: 'header' }" },
  queryStyle: { fits: (value) => isString(value) || isRecord(value), example: "{ tags: 'comma' }" },
  upload: { fits: isRecord, example: '{ maxBytes: 1_000_000 }' },
  requestHeaders: { fits: isStandardSchema, example: "z.object({ 'x-tenant': z.string() })" },
  responseHeaders: {
    fits: (value) =>
      isStandardSchema(value) ||
      (isRecord(value) &&
        Object.values(value).every(
          (header) =>
            isRecord(header) && isString(header['description']) && typeof header['value'] === 'function',
        )),
    example: "{ Location: { description: 'The pet.', value: (output) => `/v1/pets/${output.id}` } }",
  },
  successStatus: {
    fits: (value) =>
      isSuccessStatus(value) || (Array.isArray(value) && value.length > 0 && value.every(isSuccessStatus)),
    example: '201, or a list of statuses from 200 to 399',
  },
  responses: { fits: isRecord, example: '{ 200: Pet, 202: Job }' },
  errorResponses: {
    fits: (value) =>
      Array.isArray(value)
        ? value.every(isErrorStatus)
        : isRecord(value) &&
          Object.entries(value).every(
            ([status, description]) => isErrorStatus(Number(status)) && isString(description),
          ),
    example: "{ 404: 'No such pet.' }, with statuses from 400 to 599",
  },
  produces: { fits: (value) => isString(value) || isRecord(value), example: "'image/png'" },
  event: { fits: isStandardSchema, example: 'z.object({ … })' },
  pagination: {
    fits: (value) => isRecord(value) && isString(value['cursor']),
    example: "{ cursor: 'after' }",
  },
  deprecation: {
    fits: (value) =>
      isRecord(value) &&
      value['since'] instanceof Date &&
      (value['sunset'] === undefined || value['sunset'] instanceof Date),
    example: "{ since: new Date('2026-01-01') }",
  },
  document: { fits: (value) => typeof value === 'function', example: '(operation) => operation' },
} as const satisfies Partial<Record<keyof RestMeta, FieldRule>>;

/**
 * Returns the first invalid value of REST metadata, with a valid example. In TypeScript, the types reject the same
 * values.
 */
export function findInvalidMeta(meta: RestMeta): string | undefined {
  for (const [field, rule] of Object.entries<FieldRule>(rules)) {
    const value: unknown = Reflect.get(meta, field);
    if (value === undefined && field !== 'path') continue;
    if (!rule.fits(value)) {
      return `its metadata has ${field}: ${formatAsJson(value)}; write ${field}: ${rule.example}`;
    }
  }
  return undefined;
}

function formatAsJson(value: unknown): string {
  if (typeof value === 'function') return 'a function';
  return (JSON.stringify(value) ?? String(value)).slice(0, 100);
}
