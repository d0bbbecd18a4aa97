import type { AnyTRPCRouter } from '@trpc/server';
import { GatewayError } from './http/gatewayError.ts';
import { createOperations, type Operation, type OperationsOptions } from './operations/operation.ts';
import { innermost, typeOf, valuesOf, type Schema } from './operations/schema.ts';
import { readDefinition } from './procedures/compile.ts';
import { readProcedures, type Procedure } from './procedures/procedures.ts';
import { createLinkBase } from './protocols/paths.ts';
import { trpcToOpenApi } from './trpcToOpenApi.ts';

/** What changes for the clients of a procedure if the gateway replaces trpc-to-openapi 3.3. */
export interface ProcedureReport {
  /** The path in the router, such as `books.find`. */
  readonly procedure: string;
  /** Its method and path, such as `GET /books/{id}`; `undefined` if it is not served over REST. */
  readonly operation: string | undefined;
  /** What changes even with the options of `trpcToOpenApi()`. */
  readonly always: readonly string[];
  /** What changes further without these options. */
  readonly withoutPreset: readonly string[];
  /** What changes further with the option `authentication`. */
  readonly withAuthentication: readonly string[];
}

/**
 * Lists, for each procedure of a router with metadata of trpc-to-openapi, what clients would see differently: before
 * the switch to the gateway, and before its options `trpcToOpenApi()` are removed. It does not list what changes for
 * every procedure, such as the body of errors; see docs/migrating/from-trpc-to-openapi.md.
 *
 * ```ts
 * const report = await migrationReport(appRouter);
 * report.filter(({ always }) => always.length > 0);
 * ```
 *
 * `npx trpc-gateway report router.ts` prints it.
 * @throws {GatewayError} with a line for each procedure whose metadata is not valid
 */
export async function migrationReport(router: AnyTRPCRouter): Promise<readonly ProcedureReport[]> {
  const procedures = await readProcedures(router);
  const isPublic = publicProcedures(procedures);
  return procedures.map((procedure) => {
    const kept = readOperation(procedure, keptOptions);
    const strict = kept && readOperation(procedure, strictOptions);
    return {
      procedure: procedure.path,
      operation: kept?.operation && nameOf(kept.operation),
      always: kept?.problem === undefined ? [] : [`cannot be served: ${kept.problem}`],
      withoutPreset: kept?.operation && strict ? presetChanges(kept.operation, strict) : [],
      withAuthentication: isPublic(procedure)
        ? ['requires a credential: add protect: false if it is public']
        : [],
    };
  });
}

const baseOptions = {
  basePath: '',
  links: createLinkBase(undefined, ''),
  isTaken: () => false,
  canSpool: true,
};
const keptOptions: OperationsOptions = { ...baseOptions, ...trpcToOpenApi() };
const strictOptions: OperationsOptions = {
  ...baseOptions,
  ignorePathCase: false,
  operationId: (path) => path,
  voidStatus: 204,
  strictness: 'strict',
};

/** An operation, or why it cannot be served. */
type Reading = { readonly operation: Operation | undefined; readonly problem: string | undefined };

/** @returns `undefined` for a procedure that is not served over REST */
function readOperation(procedure: Procedure, options: OperationsOptions): Reading | undefined {
  try {
    const [operation] = createOperations([procedure], options);
    return operation && { operation, problem: undefined };
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return { operation: undefined, problem: error.message.slice(error.message.indexOf(': ') + 2) };
  }
}

const nameOf = ({ rest: { method, path } }: Operation) => `${method} ${path}`;

function presetChanges(kept: Operation, { operation, problem }: Reading): readonly string[] {
  if (!operation) return [`cannot be served: ${problem}`];
  const changes: string[] = [];
  if (operation.operationId !== kept.operationId) {
    changes.push(`operationId ${operation.operationId}, not ${kept.operationId}`);
  }
  if (operation.statuses[0] !== kept.statuses[0]) {
    changes.push(`status ${operation.statuses[0]}, not ${kept.statuses[0]}`);
  }
  if (kept.input.isOptional && kept.input.isLenient) {
    changes.push('an absent input is undefined or its default, not {}');
  }
  const values = kept.inputs.flatMap((input) => (input ? [...convertedIn(input)] : []));
  if (values.length > 0) changes.push(`strict: ${[...new Set(values)].join(', ')}`);
  return changes;
}

const convertedTypes = new Set<unknown>(['number', 'integer', 'boolean', 'bigint', 'date']);

/** Yields the values that only lenient conversion reads from text and JSON of another type: `limit (number)`. */
function* convertedIn(schema: Schema, path = '', seen: ReadonlySet<Schema> = new Set()): Generator<string> {
  const inner = innermost(schema);
  if (!inner || seen.has(inner)) return;
  const inside = new Set([...seen, inner]);
  const type = typeOf(inner);
  if (convertedTypes.has(type) && !valuesOf(inner)) yield `${path} (${type})`;
  for (const [name, property] of Object.entries(inner.properties ?? {})) {
    yield* convertedIn(property, path === '' ? name : `${path}.${name}`, inside);
  }
  if (typeof inner.items === 'object') yield* convertedIn(inner.items, `${path}[]`, inside);
}

/**
 * Returns whether a procedure is public as far as the router tells: it runs no middlewares of the router, or only those
 * that all procedures run, while others run more.
 */
function publicProcedures(procedures: readonly Procedure[]): (procedure: Procedure) => boolean {
  const middlewaresOf = ({ procedure }: Procedure) =>
    readDefinition(procedure)
      .middlewares.slice(0, -1)
      .filter(({ _type }) => _type === undefined);
  const all = procedures.map((each) => new Set(middlewaresOf(each)));
  const shared = [...(all[0] ?? [])].filter((each) => all.every((middlewares) => middlewares.has(each)));
  const hasOthers = all.some(({ size }) => size > shared.length);
  return (procedure) => {
    const { length } = middlewaresOf(procedure);
    return !procedure.isPublic && (length === 0 || (hasOthers && length === shared.length));
  };
}
