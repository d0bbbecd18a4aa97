import { requireSync } from '../http/hooks.ts';
import { codesOf } from '../procedures/errorCodes.ts';
import type { DescribedErrors, ErrorFormat } from '../operations/errorFormat.ts';
import type { DeclaredResponse, Operation } from '../operations/operation.ts';
import { readZod } from '../schemas/readSchema.ts';
import type { Components, SchemaObject } from '../schemas/components.ts';

export type ErrorSchemas = (operation: Operation, status: number, hasOthers: boolean) => SchemaObject;

/**
 * Creates the schemas of errors. The errors of an operation that declares some have one alternative per declared error,
 * and one for tRPC's codes if other errors are possible. Each alternative has a literal `code`, so that clients can
 * narrow on it; a single alternative with `code: string` would break narrowing.
 *
 * A declared error is a schema of its own in `components.schemas`, so that generated clients have one type for it. Its
 * name follows from the code: `OUT_OF_STOCK` is `OutOfStockError`. It stays in its responses if its code has several
 * schemas or its name is taken, so that no name depends on the order of procedures.
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
