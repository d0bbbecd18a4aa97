import type { z } from 'zod';
import { isZod } from '../procedures/isZod.ts';
import { unwrap } from './convert.ts';

type Schema = z.core.$ZodTypes;

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
