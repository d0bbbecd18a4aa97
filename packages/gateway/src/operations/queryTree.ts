import { type Converter, scalarConverter } from './convert.ts';
import { reject, UnservableError } from './unservableError.ts';
import { innermost, isObjectSchema, propertiesOf, type AnyZodSchema } from './zodSchema.ts';
import type { z } from 'zod';

/**
 * The structure of a query parameter with brackets: `filter[range][min]=1`. The node of a recursive schema contains
 * itself.
 */
export type QueryNode =
  | { readonly kind: 'value'; readonly converter: Converter }
  | { readonly kind: 'list'; readonly item: QueryNode }
  | {
      readonly kind: 'object';
      readonly fields: ReadonlyMap<string, QueryNode>;
      /** The node of members with other names; `undefined` if they are ignored. */
      readonly others: QueryNode | undefined;
      /** Whether members of other names are rejected (`z.strictObject`). */
      readonly isStrict: boolean;
    };

/** @throws {UnservableError} for a schema that brackets cannot express */
export function queryTree(
  schema: z.core.$ZodType,
  nodes: Map<AnyZodSchema, QueryNode> = new Map(),
): QueryNode {
  const inner =
    innermost(schema) ?? reject('is recursive, which a URL cannot represent; send it in a JSON body');
  const knownNode = nodes.get(inner);
  if (knownNode) return knownNode;
  const { def } = inner._zod;
  if (def.type === 'array') {
    const node = { kind: 'list', item: undefined as unknown as QueryNode } satisfies QueryNode;
    // Register the node before its items, which may contain it.
    nodes.set(inner, node);
    node.item = queryTree(def.element, nodes);
    return node;
  }
  if (def.type === 'record') {
    const node = {
      kind: 'object',
      fields: noFields,
      others: undefined as QueryNode | undefined,
      isStrict: false,
    } satisfies QueryNode;
    nodes.set(inner, node);
    node.others = queryTree(def.valueType, nodes);
    return node;
  }
  const properties = isObjectSchema(inner) ? propertiesOf(inner) : undefined;
  if (properties === undefined) {
    const node = { kind: 'value', converter: scalarConverter(inner) } satisfies QueryNode;
    nodes.set(inner, node);
    return node;
  }
  const fields = new Map<string, QueryNode>();
  const isStrict =
    def.type === 'object' && (def.catchall as AnyZodSchema | undefined)?._zod.def.type === 'never';
  const node = { kind: 'object', fields, others: undefined, isStrict } satisfies QueryNode;
  nodes.set(inner, node);
  for (const [name, property] of Object.entries(properties.shape)) {
    try {
      fields.set(name, queryTree(property, nodes));
    } catch (error) {
      throw error instanceof UnservableError
        ? new UnservableError(`has "${name}", which ${error.message}`)
        : error;
    }
  }
  if (fields.size === 0) reject('is an object without properties, which cannot be sent in a query');
  return node;
}

const noFields: ReadonlyMap<string, QueryNode> = new Map();

/** Whether a node is nested deeper than OpenAPI's `deepObject` allows: an object with only scalar properties. */
export const isNested = (node: QueryNode): boolean =>
  node.kind === 'object'
    ? [...node.fields.values(), ...(node.others ? [node.others] : [])].some(({ kind }) => kind !== 'value')
    : node.kind === 'list' && node.item.kind !== 'value';
