import type { z } from 'zod';
import { isZod } from '../procedures/isZod.ts';

/** zod's schemas as they describe themselves; the union of every definition is the package's own. */
export type Schema = z.core.$ZodTypes;

/** The properties of an input, by name. */
export type Shape = Readonly<Record<string, z.core.$ZodType>>;

/**
 * The properties that a procedure's inputs take together: `.input()` may be chained, each a zod object or a wrapper of
 * one. No input, or one of nothing (`z.void()`), has none.
 * @returns `undefined` where an input is anything else: it has no names to make parameters of
 */
export function inputShape(inputs: readonly unknown[]): Shape | undefined {
  const shapes = inputs.map((input) => (isZod(input) ? schemaShape(input) : undefined));
  return shapes.every((shape) => shape !== undefined) ? Object.assign({}, ...shapes) : undefined;
}

function schemaShape(schema: z.core.$ZodType): Shape | undefined {
  const { def } = (schema as Schema)._zod;
  switch (def.type) {
    case 'object':
      return def.shape;
    case 'void':
    case 'undefined':
    case 'never':
      return {};
    case 'intersection': {
      const [left, right] = [schemaShape(def.left), schemaShape(def.right)];
      return left && right && { ...left, ...right };
    }
    default: {
      const inner = unwrap(schema);
      return inner && schemaShape(inner);
    }
  }
}

/** Whether a schema takes (`input`), or gives (`output`), an absent value. A schema that cannot tell without waiting does not. */
export function isOptional(schema: z.core.$ZodType, side: 'input' | 'output'): boolean {
  const { def, optin, optout } = (schema as Schema)._zod;
  if (['void', 'undefined', 'any', 'unknown'].includes(def.type)) return true;
  return (side === 'input' ? optin : optout) !== undefined;
}

/** What a wrapper takes in: `z.optional(x)` takes what `x` takes. `undefined` for what wraps nothing. */
export function unwrap(schema: z.core.$ZodType): z.core.$ZodType | undefined {
  const { def } = (schema as Schema)._zod;
  switch (def.type) {
    case 'optional':
    case 'nullable':
    case 'default':
    case 'prefault':
    case 'catch':
    case 'readonly':
    case 'nonoptional':
    case 'success':
    case 'promise':
      return def.innerType;
    case 'lazy':
      // Not `getter`, which may make another schema each time: zod keeps the first.
      return (schema as z.core.$ZodLazy)._zod.innerType;
    case 'pipe':
      return (def.in as Schema)._zod.def.type === 'transform' ? undefined : def.in;
    default:
      return undefined;
  }
}

/** How many wrappers a schema may have: one with more contains itself. */
export const maxDepth = 50;

/** The schema within all wrappers; `undefined` for one that wraps itself. */
export function innermost(schema: z.core.$ZodType): Schema | undefined {
  let inner: z.core.$ZodType | undefined = schema;
  for (let depth = 0; depth <= maxDepth; depth += 1) {
    const next = unwrap(inner);
    if (next === undefined) return inner as Schema;
    inner = next;
  }
  return undefined;
}
