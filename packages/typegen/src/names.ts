import type { Side } from './optionality.ts';
import { print } from './print.ts';
import type { Place } from './place.ts';
import { generic, type Alias, type Comment, type TypeNode } from './typeNode.ts';
import { TypegenError } from './typegenError.ts';
import { definitionOf, metadataOf, type Schema } from './zodDefinition.ts';

/** A type that is written down under a name of its own. */
interface NamedType {
  readonly name: string;
  readonly body: TypeNode;
  readonly comment: Comment;
}

/** Which schemas have names. */
export interface Names {
  /** The type of a schema: a reference where it has a name or is recursive, else what `toType` returns. */
  readonly alias: (schema: Schema, place: Place, toType: () => TypeNode) => TypeNode;
  /** Whether a type mentions the schema by its name. */
  readonly isUsed: (schema: Schema) => boolean;
  /** All that got a name, in the order of their first use. Call it when every type is made. */
  readonly types: () => readonly NamedType[];
}

interface Entity {
  readonly schema: Schema;
  readonly name: string;
  readonly forms: Partial<Record<Side, { body?: TypeNode }>>;
  /** Whether what it takes differs from what it gives: the one is `XInput`, then, and the other `X`. */
  isSplit: boolean;
}

// What the generated text means by these names is not a schema.
const reserved = new Set([
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
 * Names for schemas: the `id` of their metadata; recursive ones that have none are named after where they were met first.
 * @param exported the names that schemas are exported by: they are better than an `id` that names something global, such
 *   as `Error`
 */
export function createNames(exported: ReadonlyMap<Schema, string>): Names {
  const entities = new Map<Schema, Entity>();
  const open = { input: new Map<Schema, Place>(), output: new Map<Schema, Place>() };

  const entityOf = (schema: Schema, name: string): Entity => {
    const entity = entities.get(schema) ?? { schema, name: identifier(name), forms: {}, isSplit: false };
    entities.set(schema, entity);
    return entity;
  };

  /** A name after where a schema was met first: `The procedure pets.list`, `output.tree[]` as `PetsListTree`. */
  const unusedName = ({ owner, path }: Place): string => {
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
      isObject: ['array', 'map', 'object', 'record', 'set', 'tuple'].includes(
        definitionOf(entity.schema).type,
      ),
      body: () => entity.forms[side]?.body,
    };
    return { kind: 'reference', to };
  };

  return {
    alias(schema, place, toType) {
      const { side } = place;
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
      const met = open[side].get(schema);
      if (met) {
        const recursive = entityOf(schema, unusedName(met));
        recursive.forms[side] ??= {};
        return reference(recursive, side);
      }
      open[side].set(schema, place);
      const body = toType();
      open[side].delete(schema);
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
      refuseClashes(types);
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

/** Two forms that differ make every form differ that mentions them: until nothing changes. */
function splitWhereSidesDiffer(entities: readonly Entity[]): void {
  for (let isSettled = false; !isSettled;) {
    isSettled = true;
    for (const entity of entities) {
      const { input, output } = entity.forms;
      if (entity.isSplit || !input?.body || !output?.body || print(input.body) === print(output.body))
        continue;
      entity.isSplit = true;
      isSettled = false;
    }
  }
}

function refuseClashes(types: readonly NamedType[]): void {
  const seen = new Set<string>();
  for (const { name } of types) {
    if (seen.has(name)) {
      throw new TypegenError(
        `Two schemas would be the type ${name}: give one of them another id in its metadata.`,
      );
    }
    if (reserved.has(name) || name.startsWith('TRPC')) {
      throw new TypegenError(
        `A schema would be the type ${name}, which means something else: give it another id in its metadata.`,
      );
    }
    seen.add(name);
  }
}

/** A name that TypeScript takes. */
function identifier(name: string): string {
  if (/^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(name)) return name;
  const words = name.replace(/^The procedure /, '').split(/[^\p{ID_Continue}$]+/u);
  const joined = words.map((word) => word.slice(0, 1).toUpperCase() + word.slice(1)).join('');
  return /^\p{ID_Start}/u.test(joined) ? joined : `_${joined}`;
}
