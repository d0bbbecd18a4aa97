import type { oas31 } from 'zod-openapi';
import { errorKey } from '../operations/operationErrors.ts';
import type { SchemaOrReference } from './partEncoding.ts';

type ErrorDocument = Pick<oas31.OpenAPIObject, 'components' | 'paths'>;

/** The schema of a declared error in a response, and a function that replaces it with a reference. */
interface ErrorUse {
  readonly name: string;
  readonly schema: SchemaOrReference;
  replace(reference: oas31.ReferenceObject): void;
}

/**
 * Moves the schemas of declared errors from responses to `components/schemas`, so that generated clients have one type
 * for each. The names follow from the codes: `OUT_OF_STOCK` is `OutOfStockError`. A schema stays in its
 * responses if its code has several schemas or its name is taken, so that no name depends on the order of procedures.
 */
export function moveErrors(
  document: ErrorDocument,
  operations: readonly (oas31.OperationObject | undefined)[],
): void {
  const uses = operations.flatMap((operation) => [...errorUses(operation)]);
  const existingSchemas = document.components?.schemas ?? {};
  const moved: Record<string, SchemaOrReference> = {};
  for (const [name, sameName] of Map.groupBy(uses, ({ name: each }) => each)) {
    const [{ schema }] = sameName as [ErrorUse, ...ErrorUse[]];
    const text = JSON.stringify(schema);
    if (Object.hasOwn(existingSchemas, name) || sameName.some((use) => JSON.stringify(use.schema) !== text))
      continue;
    moved[name] = schema;
    for (const use of sameName) use.replace({ $ref: `#/components/schemas/${name}` });
  }
  if (Object.keys(moved).length > 0) {
    document.components = { ...document.components, schemas: { ...existingSchemas, ...moved } };
  }
}

function* errorUses(described: oas31.OperationObject | undefined): Generator<ErrorUse> {
  for (const response of Object.values<oas31.ResponseObject | oas31.ReferenceObject>(
    described?.responses ?? {},
  )) {
    const media = 'content' in response ? Object.values(response.content ?? {}) : [];
    for (const each of media) {
      const { schema } = each;
      const own = schema && errorUse(schema, (reference) => (each.schema = reference));
      if (own) yield own;
      const members = schema && 'oneOf' in schema ? (schema.oneOf ?? []) : [];
      for (const [index, member] of members.entries()) {
        const use = errorUse(member, (reference) => (members[index] = reference));
        if (use) yield use;
      }
    }
  }
}

function errorUse(schema: SchemaOrReference, replace: ErrorUse['replace']): ErrorUse | undefined {
  if (!(errorKey in schema)) return undefined;
  const code = schema[errorKey] as string;
  delete schema[errorKey];
  return { name: componentName(code), schema, replace };
}

/** Converts a code to a name: `OUT_OF_STOCK` is `OutOfStockError`, `PAYMENT_ERROR` is `PaymentError`. */
const componentName = (code: string): string =>
  `${code
    .replace(/_ERROR$/, '')
    .split('_')
    .map((word) => word.slice(0, 1) + word.slice(1).toLowerCase())
    .join('')}Error`;
