import { z } from 'zod';
import { isZod } from '../procedures/isZod.ts';

/** Any zod schema, with zod's union of all definitions, so that `def.type` narrows. */
export type AnyZodSchema = z.core.$ZodTypes;

/** The properties of an input, by name. */
export type Shape = Readonly<Record<string, z.core.$ZodType>>;

/** The properties that an input accepts. */
export interface Properties {
  readonly shape: Shape;
  /**
   * Whether the input is or contains a union of objects. Only the schema can check which properties belong together.
   */
  readonly isUnion: boolean;
}

/**
 * Merges the properties of a procedure's inputs: `.input()` may be chained, and each may be a zod object, a union of
 * objects, or a wrapper of one. No input and an empty input (`z.void()`) have no properties.
 * @returns `undefined` if an input is anything else, and so has no named properties
 */
export function inputProperties(inputs: readonly unknown[]): Properties | undefined {
  return mergeProperties(inputs.map((input) => (isZod(input) ? propertiesOf(input) : undefined)));
}

/** Returns the properties of an object, a union of objects, or a wrapper of one; `undefined` for anything else. */
export function propertiesOf(schema: z.core.$ZodType, depth = 0): Properties | undefined {
  if (depth > maxDepth) return undefined;
  const { def } = (schema as AnyZodSchema)._zod;
  switch (def.type) {
    case 'object':
      return { shape: def.shape, isUnion: false };
    case 'intersection':
      return mergeProperties([propertiesOf(def.left, depth + 1), propertiesOf(def.right, depth + 1)]);
    case 'union':
      return unionProperties(
        def.options
          .filter((option) => !isAlwaysAbsent(option))
          .map((option) => propertiesOf(option, depth + 1)),
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

/** Whether a schema accepts only absent values. In a union it adds no properties. */
const isAlwaysAbsent = (schema: z.core.$ZodType): boolean =>
  ['null', 'undefined', 'void', 'never'].includes((schema as AnyZodSchema)._zod.def.type);

/** Whether a schema accepts only objects: an object, a union of objects or a record. */
export function isObjectSchema(schema: z.core.$ZodType): boolean {
  const inner = innermost(schema);
  if (inner === undefined || isAlwaysAbsent(inner)) return false;
  return inner._zod.def.type === 'record' || propertiesOf(inner) !== undefined;
}

/** Merges properties that an input requires together. A later property replaces an earlier one with the same name. */
function mergeProperties(parts: readonly (Properties | undefined)[]): Properties | undefined {
  if (!parts.every((part) => part !== undefined)) return undefined;
  const shape: Shape = Object.assign({}, ...parts.map((part) => part.shape));
  return { shape, isUnion: parts.some((part) => part.isUnion) };
}

/**
 * Combines the members of a union: each property accepts what any member accepts, and is optional if a member lacks it.
 */
function unionProperties(members: readonly (Properties | undefined)[]): Properties | undefined {
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
  const [first, ...others] = schemas as readonly AnyZodSchema[];
  if (first && others.length === 0) return first;
  const values = schemas.flatMap((schema) => {
    const { def } = (schema as AnyZodSchema)._zod;
    return def.type === 'literal' ? def.values : [undefined];
  });
  return values.every((value) => value !== undefined) ? z.literal(values) : z.union(schemas);
}

/** Makes a schema optional. It keeps the metadata except `id`, which belongs to the original schema. */
export function optionalOf(schema: z.core.$ZodType): z.core.$ZodType {
  const { id: _id, ...metadata } = z.globalRegistry.get(schema) ?? {};
  return z.optional(schema).meta(metadata);
}

/** Whether a schema accepts (`input`) or returns (`output`) `undefined`, as far as its definition shows. */
export function acceptsUndefined(schema: z.core.$ZodType, side: 'input' | 'output'): boolean {
  const { def, optin, optout } = (schema as AnyZodSchema)._zod;
  if (['void', 'undefined', 'any', 'unknown'].includes(def.type)) return true;
  // `z.preprocess` accepts any value; the document describes its output schema instead.
  if (side === 'input' && def.type === 'pipe' && def.in._zod.def.type === 'transform')
    return acceptsUndefined(def.out, side);
  return (side === 'input' ? optin : optout) !== undefined;
}

/**
 * Returns the inner schema of a wrapper (for a pipe, its input): `x` of `z.optional(x)`. `undefined` for other schemas.
 */
export function unwrap(schema: z.core.$ZodType): z.core.$ZodType | undefined {
  const { def } = (schema as AnyZodSchema)._zod;
  if ('innerType' in def) return def.innerType;
  // Not `getter`, which may create a new schema on each call; `innerType` is cached.
  if (def.type === 'lazy') return (schema as z.core.$ZodLazy)._zod.innerType;
  return def.type === 'pipe' && (def.in as AnyZodSchema)._zod.def.type !== 'transform' ? def.in : undefined;
}

/** The maximum number of wrappers. A schema with more contains itself. */
export const maxDepth = 50;

/** Removes all wrappers from a schema; `undefined` if it wraps itself. */
export function innermost(schema: z.core.$ZodType, depth = 0): AnyZodSchema | undefined {
  const inner = unwrap(schema);
  if (inner === undefined) return schema as AnyZodSchema;
  return depth < maxDepth ? innermost(inner, depth + 1) : undefined;
}
