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
  if (def.type === 'object') return def.shape;
  if (def.type === 'intersection') return inputShape([def.left, def.right]);
  if (['void', 'undefined', 'never'].includes(def.type)) return {};
  const inner = unwrap(schema);
  return inner && schemaShape(inner);
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
