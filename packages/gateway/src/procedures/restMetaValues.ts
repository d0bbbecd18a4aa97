import type { RestMeta } from './meta.ts';

interface Rule {
  readonly fits: (value: unknown) => boolean;
  /** What to write, after the field's name. */
  readonly example: string;
}

const isText = (value: unknown) => typeof value === 'string';
const isFlag = (value: unknown) => typeof value === 'boolean';
const isFunction = (value: unknown) => typeof value === 'function';
const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
// Those of ArkType are functions.
const isSchema = (value: unknown) => (isRecord(value) || typeof value === 'function') && '~standard' in value;
const isTexts = (value: unknown) => Array.isArray(value) && value.every(isText);
const isStatusIn = (from: number, to: number) => (value: unknown) =>
  typeof value === 'number' && Number.isInteger(value) && value >= from && value <= to;
const isSuccess = isStatusIn(200, 399);
const isError = isStatusIn(400, 599);

const text = (example: string): Rule => ({ fits: isText, example });
const flag = (example: string): Rule => ({ fits: isFlag, example });

const rules = {
  path: text("'/pets/{id}'"),
  operationId: text("'listPets'"),
  summary: text("'Lists pets.'"),
  description: text("'Lists pets.'"),
  successDescription: text("'The pets.'"),
  tags: { fits: isTexts, example: "['pets']" },
  enabled: flag('false'),
  protect: flag('false'),
  deprecated: flag('true'),
  idempotencyKey: flag('true'),
  contentTypes: { fits: isTexts, example: "['application/json']" },
  in: { fits: isRecord, example: "{ tenant: 'header' }" },
  queryStyle: { fits: (value) => isText(value) || isRecord(value), example: "{ tags: 'comma' }" },
  upload: { fits: isRecord, example: '{ maxBytes: 1_000_000 }' },
  requestHeaders: { fits: isSchema, example: "z.object({ 'x-tenant': z.string() })" },
  responseHeaders: {
    fits: (value) =>
      isSchema(value) ||
      (isRecord(value) &&
        Object.values(value).every(
          (header) => isRecord(header) && isText(header['description']) && isFunction(header['value']),
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
          Object.entries(value).every(([status, words]) => isError(Number(status)) && isText(words)),
    example: "{ 404: 'No such pet.' }, with statuses from 400 to 599",
  },
  produces: { fits: (value) => isText(value) || isRecord(value), example: "'image/png'" },
  event: { fits: isSchema, example: 'z.object({ … })' },
  pagination: { fits: (value) => isRecord(value) && isText(value['cursor']), example: "{ cursor: 'after' }" },
  deprecation: {
    fits: (value) =>
      isRecord(value) &&
      value['since'] instanceof Date &&
      (value['sunset'] === undefined || value['sunset'] instanceof Date),
    example: "{ since: new Date('2026-01-01') }",
  },
  document: { fits: isFunction, example: '(operation) => operation' },
} as const satisfies Partial<Record<keyof RestMeta, Rule>>;

/** The first value of REST metadata that cannot be right, and what to write; the types say the same to those who use them. */
export function restMetaMistake(meta: RestMeta): string | undefined {
  for (const [field, rule] of Object.entries<Rule>(rules)) {
    const value: unknown = Reflect.get(meta, field);
    if (value === undefined && field !== 'path') continue;
    if (!rule.fits(value)) {
      return `its metadata has ${field}: ${shown(value)}; write ${field}: ${rule.example}`;
    }
  }
  return undefined;
}

function shown(value: unknown): string {
  if (typeof value === 'function') return 'a function';
  return (JSON.stringify(value) ?? String(value)).slice(0, 100);
}
