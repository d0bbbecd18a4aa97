import { type ZodSchema, definitionOf, metadataOf } from 'trpc-gateway/schemas';
import type { Side } from './optionality.ts';
import { print } from './print.ts';
import type { SchemaLocation } from './schemaLocation.ts';
import { generic, type Alias, type Comment, type TypeNode } from './typeNode.ts';
import { TypegenError } from './typegenError.ts';

interface NamedType {
  readonly name: string;
  readonly body: TypeNode;
  readonly comment: Comment;
}

/** Assigns type names to schemas. */
export interface SchemaNames {
  /** Returns the type of a schema: a reference if it has a name or is recursive, and otherwise the result of `toType`. */
  readonly alias: (schema: ZodSchema, location: SchemaLocation, toType: () => TypeNode) => TypeNode;
  /** Returns true if a type refers to the schema by name. */
  readonly isUsed: (schema: ZodSchema) => boolean;
  /** Returns all named types in the order of first use. Call it after all schemas were converted. */
  readonly types: () => readonly NamedType[];
}

interface Entity {
  readonly schema: ZodSchema;
  readonly name: string;
  readonly forms: Partial<Record<Side, { body?: TypeNode }>>;
  /** Whether the input and output types differ. Then they are named `XInput` and `X`. */
  isSplit: boolean;
}

/** Names with another meaning in the generated source. */
const reservedNames = new Set([
  'AppRouter',
  'AsyncIterable',
  'Date',
  'Exclude',
  'File',
  'InstanceType',
  'Map',
  'MutationProcedure',
  'OctetInput',
  'Promise',
  'PropertyKey',
  'QueryProcedure',
  'Readonly',
  'ReadonlyMap',
  'ReadonlySet',
  'RouterInputs',
  'RouterOutputs',
  'Set',
  'DeclaredError',
  'DeclaredErrorWithData',
  'Simplify',
  'SubscriptionProcedure',
]);

/**
 * Names schemas by the `id` of their metadata. A recursive schema without an `id` is named after its first location.
 * @param exported the export names of schemas, which replace an `id` that is the name of a global, such as `Error`
 */
export function createNames(exported: ReadonlyMap<ZodSchema, string>): SchemaNames {
  const entities = new Map<ZodSchema, Entity>();
  const inProgress = {
    input: new Map<ZodSchema, SchemaLocation>(),
    output: new Map<ZodSchema, SchemaLocation>(),
  };

  const entityOf = (schema: ZodSchema, name: string): Entity => {
    const entity = entities.get(schema) ?? { schema, name: identifier(name), forms: {}, isSplit: false };
    entities.set(schema, entity);
    return entity;
  };

  /** Returns an unused name for a location: `PetsListTree` for `The procedure pets.list`, `output.tree[]`. */
  const nameByLocation = ({ owner, path }: SchemaLocation): string => {
    const name = identifier(`${owner} ${path.replace(/^(input|output)/, '')}`.trim());
    const used = new Set([...entities.values()].flatMap((each) => [each.name, `${each.name}Input`]));
    for (let count = 1; ; count += 1) {
      const numbered = count === 1 ? name : `${name}${count}`;
      if (!used.has(numbered)) return numbered;
    }
  };

  const reference = (entity: Entity, side: Side): TypeNode => {
    const to: Alias = {
      name: () => (entity.isSplit && side === 'input' ? `${entity.name}Input` : entity.name),
      isObjectType: ['array', 'map', 'object', 'record', 'set', 'tuple'].includes(
        definitionOf(entity.schema).type,
      ),
      body: () => entity.forms[side]?.body,
    };
    return { kind: 'reference', to };
  };

  return {
    alias(schema, location, toType) {
      const { side } = location;
      const { id } = metadataOf(schema);
      const name = id !== undefined && id in globalThis ? (exported.get(schema) ?? id) : id;
      const entity = name === undefined ? entities.get(schema) : entityOf(schema, name);
      if (entity) {
        if (entity.forms[side] === undefined) {
          const form: { body?: TypeNode } = (entity.forms[side] = {});
          form.body = toType();
        }
        return reference(entity, side);
      }
      const firstLocation = inProgress[side].get(schema);
      if (firstLocation) {
        const recursive = entityOf(schema, nameByLocation(firstLocation));
        recursive.forms[side] ??= {};
        return reference(recursive, side);
      }
      inProgress[side].set(schema, location);
      const body = toType();
      inProgress[side].delete(schema);
      const form = entities.get(schema)?.forms[side];
      if (form === undefined) return body;
      form.body = body;
      return reference(entityOf(schema, ''), side);
    },
    isUsed: (schema) => entities.has(schema),
    types() {
      const all = [...entities.values()];
      splitWhereSidesDiffer(all);
      const types = all.flatMap((entity) => namedTypes(entity));
      rejectNameClashes(types);
      return types;
    },
  };
}

function namedTypes({ name, forms: { input, output }, isSplit, schema }: Entity): NamedType[] {
  const { description: text, deprecated } = metadataOf(schema);
  const comment = { text, deprecated };
  const body = (output ?? input)?.body ?? generic(name);
  if (!isSplit || !input?.body) return [{ name, body, comment }];
  return [
    { name, body, comment },
    { name: `${name}Input`, body: input.body, comment },
  ];
}

/** Splits entities with different input and output types. Repeated, because a split also changes types that refer to it. */
function splitWhereSidesDiffer(entities: readonly Entity[]): void {
  for (let isStable = false; !isStable;) {
    isStable = true;
    for (const entity of entities) {
      const { input, output } = entity.forms;
      if (entity.isSplit || !input?.body || !output?.body || print(input.body) === print(output.body))
        continue;
      entity.isSplit = true;
      isStable = false;
    }
  }
}

function rejectNameClashes(types: readonly NamedType[]): void {
  const seen = new Set<string>();
  for (const { name } of types) {
    if (seen.has(name)) {
      throw new TypegenError(
        `Two schemas would both be the type ${name}. Give one of them another id in its metadata.`,
      );
    }
    if (reservedNames.has(name) || name.startsWith('TRPC')) {
      throw new TypegenError(
        `A schema would be the type ${name}, which already has another meaning. Give it another id in its metadata.`,
      );
    }
    seen.add(name);
  }
}

/** Converts a name to a valid TypeScript identifier. */
function identifier(name: string): string {
  if (/^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(name)) return name;
  const words = name.replace(/^Procedure /, '').split(/[^\p{ID_Continue}$]+/u);
  const joined = words.map((word) => word.slice(0, 1).toUpperCase() + word.slice(1)).join('');
  return /^\p{ID_Start}/u.test(joined) ? joined : `_${joined}`;
}
