interface SchemaFields {
  readonly anyOf?: readonly SchemaFields[];
  readonly type?: string;
  readonly items?: SchemaFields;
  readonly additionalProperties?: SchemaFields;
  readonly $ref?: string;
}

const jsonTypes = ['array', 'boolean', 'null', 'number', 'object', 'string'];

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
      const { anyOf: _anyOf, ...described } = schema as SchemaFields;
      return [name, described as Schema];
    }),
  );
}

function isAnyJson({ anyOf = [] }: SchemaFields, reference: string): boolean {
  const memberTypes = anyOf.map(({ type }) => type ?? '').toSorted();
  return (
    memberTypes.join() === jsonTypes.join() &&
    anyOf.every((member) => {
      if (member.type === 'array') return member.items?.$ref === reference;
      if (member.type === 'object') return member.additionalProperties?.$ref === reference;
      return Object.keys(member).length === 1;
    })
  );
}
