import { definitionOf, isPreprocess, lazyTarget, type Schema } from './zodDefinition.ts';

/** What a schema takes, or what it gives. */
export type Side = 'input' | 'output';

/**
 * Whether an object's field or a tuple's item of this schema may be left out, as zod's types have it: `_zod.optin` and
 * `_zod.optout` say something else at run time for some kinds (a default's output, `any`).
 */
export function isOptional(schema: Schema, side: Side): boolean {
  const definition = definitionOf(schema);
  switch (definition.type) {
    case 'optional':
      return true;
    case 'default':
    case 'prefault':
      return side === 'input';
    case 'success':
      return side === 'input' && isOptional(definition.innerType, side);
    case 'nullable':
    case 'readonly':
    case 'catch':
      return isOptional(definition.innerType, side);
    case 'lazy':
      return isOptional(lazyTarget(schema), side);
    case 'pipe':
      return isOptional(side === 'input' && !isPreprocess(schema) ? definition.in : definition.out, side);
    case 'union':
      return definition.options.some((option) => isOptional(option, side));
    case 'intersection':
      return isOptional(definition.left, side) && isOptional(definition.right, side);
    default:
      return false;
  }
}
