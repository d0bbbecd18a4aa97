import type { AnyTRPCRouter } from '@trpc/server';
import { readOperations, type Operation, type OperationsOptions } from '../operations/operation.ts';
import { innermost, typeOf, valuesOf, type Schema } from '../operations/schema.ts';
import { readDefinition } from '../procedures/compile.ts';
import { readProcedures, type Procedure } from '../procedures/procedure.ts';
import { createLinkBase } from '../protocols/paths.ts';
import { trpcToOpenApi } from './trpcToOpenApi.ts';

/** The changes for the clients of a procedure if the gateway replaces trpc-to-openapi 3.3. */
export interface ProcedureReport {
  /** The path in the router, such as `books.find`. */
  readonly procedure: string;
  /** The method and path of the procedure, such as `GET /books/{id}`; `undefined` if it is not served over REST. */
  readonly operation: string | undefined;
  /** The changes even with the options of `trpcToOpenApi()`. */
  readonly always: readonly string[];
  /** The further changes without these options. */
  readonly withoutPreset: readonly string[];
  /** The further changes with the option `authentication`. */
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
 */
export async function migrationReport(router: AnyTRPCRouter): Promise<readonly ProcedureReport[]> {
  const { procedures, problems } = await readProcedures(router);
  const isPublic = publicProcedures(procedures);
  const kept = readings(procedures, keptOptions);
  const strict = readings(procedures, strictOptions);
  const invalid = Map.groupBy(problems, ({ procedure }) => procedure);
  const rows = procedures.map((procedure): ProcedureReport => {
    const { path } = procedure;
    const { operation, problem } = kept.get(path) ?? {};
    return {
      procedure: path,
      operation: operation && nameOf(operation),
      always: problem === undefined ? [] : [`cannot be served: ${problem}`],
      withoutPreset: operation ? presetChanges(operation, strict.get(path) ?? {}) : [],
      withAuthentication: isPublic(procedure)
        ? ['requires a credential: add protect: false if it is public']
        : [],
    };
  });
  const rejected = Array.from(invalid, ([procedure, lines]): ProcedureReport => {
    const always = lines.map(({ line }) => `cannot be served: ${reasonOf(line)}`);
    return { procedure, operation: undefined, always, withoutPreset: [], withAuthentication: [] };
  });
  const order = Object.keys(router._def.procedures as object);
  return [...rows, ...rejected].toSorted(
    (one, other) => order.indexOf(one.procedure) - order.indexOf(other.procedure),
  );
}

/** A line about a procedure without its name. */
const reasonOf = (line: string) => line.slice(line.indexOf(': ') + 2);

const baseOptions = {
  basePath: '',
  links: createLinkBase(undefined, ''),
  isTaken: () => false,
  canSpool: true,
  ignoreEmptyQuery: false,
};
const keptOptions: OperationsOptions = {
  ...baseOptions,
  ...trpcToOpenApi({ title: '', version: '' }),
  operationId: (path) => path.replaceAll('.', '-'),
};
const strictOptions: OperationsOptions = {
  ...baseOptions,
  ignorePathCase: false,
  ignoreTrailingSlash: false,
  operationId: (path) => path,
  voidStatus: 204,
  strictness: 'strict',
};

/** An operation, or why it cannot be served. */
type Reading = { readonly operation?: Operation; readonly problem?: string };

/** Returns the procedures that are served over REST, or cannot be, by path. */
function readings(
  procedures: readonly Procedure[],
  options: OperationsOptions,
): ReadonlyMap<string, Reading> {
  const { operations, problems } = readOperations(procedures, options);
  const reasons = Map.groupBy(problems, ({ procedure }) => procedure);
  return new Map<string, Reading>([
    ...operations.map((operation) => [operation.procedure.path, { operation }] as const),
    ...Array.from(reasons, ([path, lines]) => {
      const problem = lines.map(({ line }) => reasonOf(line)).join(' ');
      return [path, { problem }] as const;
    }),
  ]);
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
