interface JsonSchema {
  readonly anyOf?: readonly JsonSchema[];
  readonly type?: string;
  readonly items?: JsonSchema;
  readonly additionalProperties?: JsonSchema;
  readonly $ref?: string;
}

const types = ['array', 'boolean', 'null', 'number', 'object', 'string'];

/**
 * Writes each schema that is any JSON value, as `z.json()` is, without its types: a union of all of them that refers to
 * itself. openapi-typescript 7.13 makes a type of it that does not compile (TS2502).
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
