type Schema = Readonly<Record<string, unknown>>;

/**
 * Returns a JSON Schema with the same meaning that more client generators read:
 * - `maxItems` instead of `items: false` of a tuple: openapi-python-client 0.29 rejects documents with boolean schemas.
 * - constants with their type, and an `anyOf` for constants of several types: without a type, openapi-python-client
 *   leaves the operation out, and the client that openapi-generator 7.26 generates does not compile.
 */
export function simplifySchema(schema: Schema): Schema {
  const { items, prefixItems, enum: listed, ...rest } = schema;
  if (items === false && Array.isArray(prefixItems))
    return { ...rest, prefixItems, maxItems: prefixItems.length };
  if (typeof schema['type'] === 'string') return schema;
  if ('const' in schema) return { ...typeOf(schema['const']), ...schema };
  if (!Array.isArray(listed)) return schema;
  const types = Map.groupBy(listed as unknown[], (value) => typeOf(value)?.type);
  const members = Array.from(types, ([type, values]) =>
    type === 'null' ? { type } : { type, enum: values },
  );
  if (types.has(undefined)) return schema;
  return members.length === 1 ? { ...rest, ...members[0] } : { ...rest, anyOf: members };
}

/** Returns the JSON type of a constant; `undefined` for an object or an array. */
function typeOf(value: unknown): { readonly type: string } | undefined {
  if (value === null) return { type: 'null' };
  return typeof value === 'object' ? undefined : { type: typeof value };
}
