import { type ZodSchema, definitionOf, isPreprocess, lazyTarget } from 'trpc-gateway/schemas';

/** Which type of a schema is meant: `z.input` or `z.output`. */
export type Side = 'input' | 'output';

/**
 * Returns true if an object field or tuple item with this schema is optional in zod's types. `_zod.optin` and `_zod.optout`
 * differ from the types at run time for some kinds (the output of a default, `any`).
 */
export function isOptionalField(schema: ZodSchema, side: Side): boolean {
  const definition = definitionOf(schema);
  switch (definition.type) {
    case 'optional':
      return true;
    case 'default':
    case 'prefault':
      return side === 'input';
    case 'success':
      return side === 'input' && isOptionalField(definition.innerType, side);
    case 'nullable':
    case 'readonly':
    case 'catch':
      return isOptionalField(definition.innerType, side);
    case 'lazy':
      return isOptionalField(lazyTarget(schema), side);
    case 'pipe':
      return isOptionalField(
        side === 'input' && !isPreprocess(definition) ? definition.in : definition.out,
        side,
      );
    case 'union':
      return definition.options.some((option) => isOptionalField(option, side));
    case 'intersection':
      return isOptionalField(definition.left, side) && isOptionalField(definition.right, side);
    default:
      return false;
  }
}
