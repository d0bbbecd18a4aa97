import type { RestMeta } from './meta.ts';
import { isStandardSchema } from './standardSchema.ts';

interface Rule {
  readonly fits: (value: unknown) => boolean;
  /** A valid value, for the error message. */
  readonly example: string;
}

const isText = (value: unknown) => typeof value === 'string';
const isFlag = (value: unknown) => typeof value === 'boolean';
const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isTexts = (value: unknown) => Array.isArray(value) && value.every(isText);
const isStatusIn = (from: number, to: number) => (value: unknown) =>
  typeof value === 'number' && Number.isInteger(value) && value >= from && value <= to;
const isSuccess = isStatusIn(200, 399);
const isError = isStatusIn(400, 599);

const textRule = (example: string): Rule => ({ fits: isText, example });
const flagRule = (example: string): Rule => ({ fits: isFlag, example });

const rules = {
  path: textRule("'/pets/{id}'"),
  operationId: textRule("'listPets'"),
  summary: textRule("'Lists pets.'"),
  description: textRule("'Lists pets.'"),
  successDescription: textRule("'The pets.'"),
  tags: { fits: isTexts, example: "['pets']" },
  enabled: flagRule('false'),
  protect: flagRule('false'),
  deprecated: flagRule('true'),
  idempotencyKey: flagRule('true'),
  contentTypes: { fits: isTexts, example: "['application/json']" },
  in: { fits: isRecord, example: "{ tenant: 'header' }" },
  queryStyle: { fits: (value) => isText(value) || isRecord(value), example: "{ tags: 'comma' }" },
  upload: { fits: isRecord, example: '{ maxBytes: 1_000_000 }' },
  requestHeaders: { fits: isStandardSchema, example: "z.object({ 'x-tenant': z.string() })" },
  responseHeaders: {
    fits: (value) =>
      isStandardSchema(value) ||
      (isRecord(value) &&
        Object.values(value).every(
          (header) =>
            isRecord(header) && isText(header['description']) && typeof header['value'] === 'function',
        )),
    example: "{ Location: { description: 'The pet.', value: (output) => `/v1/pets/${output.id}` } }",
  },
  successStatus: {
    fits: (value) => isSuccess(value) || (Array.isArray(value) && value.length > 0 && value.every(isSuccess)),
    example: '201, or a list of statuses from 200 to 399',
  },
  responses: { fits: isRecord, example: '{ 200: Pet, 202: Job }' },
  errorResponses: {
    fits: (value) =>
      Array.isArray(value)
        ? value.every(isError)
        : isRecord(value) &&
          Object.entries(value).every(
            ([status, description]) => isError(Number(status)) && isText(description),
          ),
    example: "{ 404: 'No such pet.' }, with statuses from 400 to 599",
  },
  produces: { fits: (value) => isText(value) || isRecord(value), example: "'image/png'" },
  event: { fits: isStandardSchema, example: 'z.object({ … })' },
  pagination: { fits: (value) => isRecord(value) && isText(value['cursor']), example: "{ cursor: 'after' }" },
  deprecation: {
    fits: (value) =>
      isRecord(value) &&
      value['since'] instanceof Date &&
      (value['sunset'] === undefined || value['sunset'] instanceof Date),
    example: "{ since: new Date('2026-01-01') }",
  },
  document: { fits: (value) => typeof value === 'function', example: '(operation) => operation' },
} as const satisfies Partial<Record<keyof RestMeta, Rule>>;

/**
 * Returns the first invalid value of REST metadata, with a valid example. In TypeScript, the types reject the same
 * values.
 */
export function restMetaMistake(meta: RestMeta): string | undefined {
  for (const [field, rule] of Object.entries<Rule>(rules)) {
    const value: unknown = Reflect.get(meta, field);
    if (value === undefined && field !== 'path') continue;
    if (!rule.fits(value)) {
      return `its metadata has ${field}: ${formatValue(value)}; write ${field}: ${rule.example}`;
    }
  }
  return undefined;
}

function formatValue(value: unknown): string {
  if (typeof value === 'function') return 'a function';
  return (JSON.stringify(value) ?? String(value)).slice(0, 100);
}
