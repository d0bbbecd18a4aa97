import { reject } from '../checks/gatewayError.ts';
import { binaryKind, details, schemasIn, type Schema } from '../schemas/schema.ts';

/**
 * Checks that JSON can represent a schema: else no JSON satisfies an input, or `JSON.stringify` throws for an output.
 * @param path the properties that lead to the schema
 * @param isLenient whether text and numbers become bigints
 * @throws {GatewayError}
 */
export function requireJson(
  schema: Schema,
  what: string,
  path: readonly string[] = [],
  isLenient = false,
): void {
  const reasons = new Set<string>();
  for (const [part, at] of schemasIn(schema, path)) {
    const own = part[details] ?? {};
    const reason = own.isDescribed ? undefined : unrepresentableReasons[binaryKind(part) ?? own.type ?? ''];
    if (reason === undefined || (isLenient && own.type === 'bigint')) continue;
    reasons.add(`in its ${what}, ${at.length === 0 ? 'its value' : `"${at.join('.')}"`} is ${reason}`);
  }
  if (reasons.size > 0) reject([...reasons].join('\n'));
}

const overrideHint = 'which has no JSON Schema; add one with .meta({ override: { type: … } })';

const formOnly = (what: string) =>
  `${what}, which JSON does not support; REST needs openapi: { contentTypes: ["multipart/form-data"] } in its metadata; leave it out of the tools`;

/** The problems of schemas that JSON cannot represent, by type. */
const unrepresentableReasons: Readonly<Record<string, string | undefined>> = {
  File: formOnly('a File'),
  FormData: formOnly('a FormData'),
  bigint: 'a bigint, which JSON does not support; use z.int() or a string',
  bytes:
    "bytes, which JSON does not support; use z.base64(), or produces: 'application/pdf' for a binary response",
  custom: `a custom schema, ${overrideHint}`,
  file: formOnly('a file'),
  function: 'a function, which JSON does not support; remove it',
  map: 'a map, which JSON does not support; use an object or an array',
  nan: 'NaN, which JSON does not support; use null',
  set: 'a set, which JSON does not support; use an object or an array',
  symbol: 'a symbol, which JSON does not support; use a string',
  transform: `a transform, ${overrideHint}`,
};

const dated = new WeakMap<Schema, boolean>();

export function hasDate(schema: Schema): boolean {
  const known = dated.get(schema);
  if (known !== undefined) return known;
  let result = false;
  for (const [{ [details]: own }] of schemasIn(schema)) result ||= own?.type === 'date';
  dated.set(schema, result);
  return result;
}
