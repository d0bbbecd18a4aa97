import { requireSync } from '../http/hooks.ts';
import { codesOf } from '../procedures/errorCodes.ts';
import type { DescribedErrors, ErrorFormat } from '../operations/errorFormat.ts';
import type { DeclaredResponse, Operation } from '../operations/operation.ts';
import { readZod } from '../schemas/readSchema.ts';
import type { Components, SchemaObject } from '../schemas/components.ts';

export type ErrorSchemas = (operation: Operation, status: number, hasOthers: boolean) => SchemaObject;

/**
 * One alternative per declared error, and one for tRPC's codes, each with a literal `code` on which clients can
 * narrow; `code: string` would break that.
 *
 * A declared error is in `components.schemas`, so that generated clients have one type: `OUT_OF_STOCK` is
 * `OutOfStockError`. It stays in its responses if its code has several schemas or its name is taken, so that no name
 * depends on the order of procedures.
 */
export function createErrorSchemas(
  operations: readonly Operation[],
  { schema, schemaOf }: ErrorFormat,
  components: Components,
): ErrorSchemas {
  let written: SchemaObject | undefined;
  const any = () => (written ??= components.write(readZod(schema, 'output'), 'output'));
  if (schemaOf === undefined) return any;
  const write = (errors: DescribedErrors) => {
    const described = requireSync(schemaOf(errors), 'errorFormat.schemaOf');
    return components.write(readZod(described, 'output'), 'output');
  };
  const declared = operations
    .flatMap(({ errors }) => [...errors.values()].flat())
    .map((error) => [error, write({ ...error, codes: [error.code], isDeclared: true })] as const);
  const texts = Map.groupBy(declared, ([{ code }]) => componentName(code));
  const isUnique = (name: string) =>
    new Set(texts.get(name)?.map(([, each]) => JSON.stringify(each))).size === 1;
  const references = new Map<DeclaredResponse, SchemaObject>();
  for (const [error, each] of declared) {
    const name = componentName(error.code);
    // A schema that has an id is a reference.
    const isAdded = !('$ref' in each) && isUnique(name);
    references.set(error, isAdded ? components.add(name, each) : each);
  }
  return ({ errors }, status, hasOthers) => {
    if (errors.size === 0) return any();
    const members = (errors.get(status) ?? []).map((error) => references.get(error) ?? any());
    const [code, ...codes] = hasOthers ? codesOf(status) : [];
    if (code !== undefined) {
      members.push(write({ codes: [code, ...codes], status, isDeclared: false, data: undefined }));
    }
    return members.length < 2 ? (members[0] ?? any()) : { oneOf: members };
  };
}

export const errorsDescription = (declared: readonly DeclaredResponse[], others?: string): string =>
  [
    ...declared.map(({ code, message }) =>
      message === undefined ? `\`${code}\`.` : `\`${code}\`: ${message}`,
    ),
    ...(others === undefined ? [] : [others]),
  ].join(' ');

/** Converts a code to a name: `OUT_OF_STOCK` is `OutOfStockError`, `PAYMENT_ERROR` is `PaymentError`. */
const componentName = (code: string): string =>
  `${code
    .replace(/_ERROR$/, '')
    .split('_')
    .map((word) => word.slice(0, 1) + word.slice(1).toLowerCase())
    .join('')}Error`;
