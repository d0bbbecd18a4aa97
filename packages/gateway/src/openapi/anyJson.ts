interface JsonSchema {
  readonly anyOf?: readonly JsonSchema[];
  readonly type?: string;
  readonly items?: JsonSchema;
  readonly additionalProperties?: JsonSchema;
  readonly $ref?: string;
}

const types = ['array', 'boolean', 'null', 'number', 'object', 'string'];

/**
 * Removes the recursive `anyOf` from schemas that accept any JSON value, such as `z.json()`. openapi-typescript 7.13
 * would generate a type for it that does not compile (TS2502).
 */
export function simplifyAnyJson<Schema extends object>(
  schemas: Readonly<Record<string, Schema>>,
): Record<string, Schema> {
  return Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => {
      if (!isAnyJson(schema, `#/components/schemas/${name}`)) return [name, schema];
      const { anyOf: _anyOf, ...described } = schema as JsonSchema;
      return [name, described as Schema];
    }),
  );
}

function isAnyJson({ anyOf = [] }: JsonSchema, reference: string): boolean {
  const found = anyOf.map(({ type }) => type ?? '').toSorted();
  return (
    found.join() === types.join() &&
    anyOf.every((member) => {
      if (member.type === 'array') return member.items?.$ref === reference;
      if (member.type === 'object') return member.additionalProperties?.$ref === reference;
      return Object.keys(member).length === 1;
    })
  );
}
