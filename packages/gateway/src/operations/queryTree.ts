import { reject, withSubject } from '../checks/gatewayError.ts';
import { itemsOf, rejectNull, scalarConverter, textConverter, type Converter } from './convert.ts';
import { isObjectSchema, propertiesOf } from '../schemas/properties.ts';
import { innermost, type Schema } from '../schemas/schema.ts';

/** The tree of `filter[range][min]=1`. Items of a list are values. A recursive schema contains itself. */
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

/** Lenient passes values on as text. @throws {GatewayError} for a schema that brackets cannot express */
export function queryTree(
  schema: Schema,
  isLenient = false,
  nodes: Map<Schema, QueryNode> = new Map(),
): QueryNode {
  const converterOf = (value: Schema) => (isLenient ? textConverter : scalarConverter(value));
  if (!isLenient) rejectNull(schema);
  const inner = innermost(schema) ?? schema;
  const items = itemsOf(inner);
  if (items) return { kind: 'list', item: { kind: 'value', converter: converterOf(items) } };
  if (!isObjectSchema(inner)) return { kind: 'value', converter: converterOf(inner) };
  const knownNode = nodes.get(inner);
  if (knownNode) return knownNode;
  const fields = new Map<string, QueryNode>();
  const { additionalProperties: others } = inner;
  const node = {
    kind: 'object',
    fields,
    others: undefined as QueryNode | undefined,
    isStrict: others === false,
  } satisfies QueryNode;
  // Before its properties, which may contain it.
  nodes.set(inner, node);
  const properties = propertiesOf(inner);
  // A record
  if (properties === undefined)
    node.others = queryTree(typeof others === 'object' ? others : {}, isLenient, nodes);
  for (const [name, property] of Object.entries(properties?.shape ?? {})) {
    fields.set(
      name,
      withSubject(`has "${name}", which`, () => queryTree(property, isLenient, nodes)),
    );
  }
  if (properties && fields.size === 0)
    reject('is an object without properties, which cannot be sent in a query');
  return node;
}

/** Whether a node is nested deeper than OpenAPI's `deepObject` allows: an object with only scalar properties. */
export const isNested = (node: QueryNode): boolean =>
  node.kind === 'object' &&
  [...node.fields.values(), node.others].some((each) => each && each.kind !== 'value');
