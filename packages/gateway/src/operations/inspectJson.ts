import { z } from 'zod';

/** The result of inspecting a schema for JSON. */
interface JsonInspection {
  /** The reason why JSON cannot represent the schema, as the end of an error message; `undefined` if it can. */
  readonly problem: string | undefined;
  /** Whether the schema is a `z.date()`, or contains one. */
  readonly hasDate: boolean;
}

/**
 * Finds values in a schema that JSON cannot represent or the document cannot describe. Without this check, the
 * procedure would fail when it is called: no JSON satisfies its input, or `JSON.stringify` throws for its output.
 */
export function inspectJson(schema: z.core.$ZodType, side: 'input' | 'output'): JsonInspection {
  const problems: { readonly place: string; readonly type: string }[] = [];
  const overriddenFields = new Set<string>();
  let hasDate = false;
  z.toJSONSchema(schema, {
    io: side,
    unrepresentable({ zodSchema, path }) {
      problems.push({ place: fieldName(path), type: zodSchema._zod.def.type });
      return {};
    },
    override({ zodSchema, path }) {
      const { type } = zodSchema._zod.def;
      if (type === 'date') hasDate = true;
      // zod describes a file as a string, as OpenAPI does for the parts of a form.
      if (type === 'file') problems.push({ place: fieldName(path), type });
      if (z.globalRegistry.get(zodSchema)?.['override'] !== undefined) overriddenFields.add(fieldName(path));
    },
  });
  const first = problems.find(
    ({ place, type }) => type in unrepresentableReasons && !overriddenFields.has(place),
  );
  return { problem: first && `${first.place} is ${unrepresentableReasons[first.type]}`, hasDate };
}

const overrideHint = 'which has no JSON Schema; add one with .meta({ override: { type: … } })';

/** The problems of schemas that JSON cannot represent, by type. */
const unrepresentableReasons: Readonly<Record<string, string>> = {
  bigint: 'a bigint, which JSON does not support; use z.int() or a string',
  custom: `a custom schema, ${overrideHint}`,
  file: 'a file, which JSON does not support; add contentTypes: ["multipart/form-data"]',
  function: 'a function, which JSON does not support; remove it',
  map: 'a map, which JSON does not support; use an object or an array',
  nan: 'NaN, which JSON does not support; use null',
  promise: 'a promise, which JSON does not support; use the schema of its value',
  set: 'a set, which JSON does not support; use an object or an array',
  symbol: 'a symbol, which JSON does not support; use a string',
  transform: `a transform, ${overrideHint}`,
};

function fieldName(path: readonly (string | number)[]): string {
  const names = path.filter((segment, index) => segment !== 'properties' || path[index - 1] === 'properties');
  return names.length === 0 ? 'its value' : `"${names.join('.')}"`;
}
