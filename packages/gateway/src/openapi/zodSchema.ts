import { z } from 'zod';
import { isZod } from '../procedures/isZod.ts';

/** zod's schemas as they describe themselves; the union of every definition is the package's own. */
export type Schema = z.core.$ZodTypes;

/** The properties of an input, by name. */
export type Shape = Readonly<Record<string, z.core.$ZodType>>;

/** The properties that an input takes. */
export interface Properties {
  readonly shape: Shape;
  /** Whether the input is a union of objects, or has one: which properties go together is the schema's to check. */
  readonly isUnion: boolean;
}

/**
 * The properties that a procedure's inputs take together: `.input()` may be chained, each a zod object, a union of
 * objects or a wrapper of one. No input, or one of nothing (`z.void()`), has none.
 * @returns `undefined` where an input is anything else: it has no names to make parameters of
 */
export function inputProperties(inputs: readonly unknown[]): Properties | undefined {
  return merged(inputs.map((input) => (isZod(input) ? propertiesOf(input) : undefined)));
}

/** The properties of an object, a union of objects, or a wrapper of one; `undefined` for anything else. */
export function propertiesOf(schema: z.core.$ZodType, depth = 0): Properties | undefined {
  if (depth > maxDepth) return undefined;
  const { def } = (schema as Schema)._zod;
  switch (def.type) {
    case 'object':
      return { shape: def.shape, isUnion: false };
    case 'intersection':
      return merged([propertiesOf(def.left, depth + 1), propertiesOf(def.right, depth + 1)]);
    case 'union':
      return united(
        def.options.filter((option) => !isNothing(option)).map((option) => propertiesOf(option, depth + 1)),
      );
    case 'void':
    case 'undefined':
    case 'never':
      return { shape: {}, isUnion: false };
    default: {
      const inner = unwrap(schema);
      return inner && propertiesOf(inner, depth + 1);
    }
  }
}

/** A schema of absence alone: beside others in a union it has no properties of its own. */
const isNothing = (schema: z.core.$ZodType): boolean =>
  ['null', 'undefined', 'void', 'never'].includes((schema as Schema)._zod.def.type);

/** Whether a schema takes objects, and nothing else: an object, a union of objects or a record. */
export function isObjectSchema(schema: z.core.$ZodType): boolean {
  const inner = innermost(schema);
  if (inner === undefined || isNothing(inner)) return false;
  return inner._zod.def.type === 'record' || propertiesOf(inner) !== undefined;
}

/** Of the properties that all take together, a later one of the same name counts. */
function merged(parts: readonly (Properties | undefined)[]): Properties | undefined {
  if (!parts.every((part) => part !== undefined)) return undefined;
  const shape: Shape = Object.assign({}, ...parts.map((part) => part.shape));
  return { shape, isUnion: parts.some((part) => part.isUnion) };
}

/** Each property of any member takes what it takes in one of them, and is optional where a member does not have it. */
function united(members: readonly (Properties | undefined)[]): Properties | undefined {
  if (members.length === 0 || !members.every((member) => member !== undefined)) return undefined;
  const names = new Set(members.flatMap(({ shape }) => Object.keys(shape)));
  const shape = Object.fromEntries(
    Array.from(names, (name) => {
      const schemas = members.flatMap((member) => member.shape[name] ?? []);
      const schema = anyOf([...new Set(schemas)]);
      return [name, schemas.length < members.length ? optionalOf(schema) : schema];
    }),
  );
  return { shape, isUnion: true };
}

function anyOf(schemas: readonly z.core.$ZodType[]): z.core.$ZodType {
  const [first, ...others] = schemas as readonly Schema[];
  if (first && others.length === 0) return first;
  const values = schemas.flatMap((schema) => {
    const { def } = (schema as Schema)._zod;
    return def.type === 'literal' ? def.values : [undefined];
  });
  return values.every((value) => value !== undefined) ? z.literal(values) : z.union(schemas);
}

/** A schema, or nothing. It keeps its description, and not its name, which another schema has. */
export function optionalOf(schema: z.core.$ZodType): z.core.$ZodType {
  const { id: _id, ...metadata } = z.globalRegistry.get(schema) ?? {};
  return z.optional(schema).meta(metadata);
}

/** Whether a schema takes (`input`), or gives (`output`), an absent value. A schema that cannot tell without waiting does not. */
export function isOptional(schema: z.core.$ZodType, side: 'input' | 'output'): boolean {
  const { def, optin, optout } = (schema as Schema)._zod;
  if (['void', 'undefined', 'any', 'unknown'].includes(def.type)) return true;
  // `z.preprocess` takes any value, as the document describes it: by what comes out.
  if (side === 'input' && def.type === 'pipe' && def.in._zod.def.type === 'transform')
    return isOptional(def.out, side);
  return (side === 'input' ? optin : optout) !== undefined;
}

/** What a wrapper takes in: `z.optional(x)` takes what `x` takes. `undefined` for what wraps nothing. */
export function unwrap(schema: z.core.$ZodType): z.core.$ZodType | undefined {
  const { def } = (schema as Schema)._zod;
  if ('innerType' in def) return def.innerType;
  // Not `getter`, which may make another schema each time: zod keeps the first.
  if (def.type === 'lazy') return (schema as z.core.$ZodLazy)._zod.innerType;
  return def.type === 'pipe' && (def.in as Schema)._zod.def.type !== 'transform' ? def.in : undefined;
}

/** How many wrappers a schema may have: one with more contains itself. */
export const maxDepth = 50;

/** The schema within all wrappers; `undefined` for one that wraps itself. */
export function innermost(schema: z.core.$ZodType, depth = 0): Schema | undefined {
  const inner = unwrap(schema);
  if (inner === undefined) return schema as Schema;
  return depth < maxDepth ? innermost(inner, depth + 1) : undefined;
}
