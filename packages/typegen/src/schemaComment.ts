import { type ZodSchema, definitionOf, isPreprocess, metadataOf } from 'trpc-gateway/schemas';
import type { Comment } from './typeNode.ts';

/** Returns the doc comment of a field from its schema, or from the schema that it wraps. */
export function schemaComment(schema: ZodSchema): Comment | undefined {
  const { description, deprecated } = metadataOf(schema);
  if (description !== undefined || deprecated) return { text: description, deprecated };
  const definition = definitionOf(schema);
  switch (definition.type) {
    case 'optional':
    case 'nullable':
    case 'default':
    case 'prefault':
    case 'nonoptional':
    case 'catch':
    case 'readonly':
      return schemaComment(definition.innerType);
    case 'pipe':
      return schemaComment(isPreprocess(definition) ? definition.out : definition.in);
    default:
      return undefined;
  }
}
