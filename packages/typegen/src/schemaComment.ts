import type { Comment } from './typeNode.ts';
import { definitionOf, isPreprocess, metadataOf, type Schema } from './zodDefinition.ts';

/** What is said of a field: by its schema, or by the one that its schema wraps. */
export function schemaComment(schema: Schema): Comment | undefined {
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
      return schemaComment(isPreprocess(schema) ? definition.out : definition.in);
    default:
      return undefined;
  }
}
