/**
 * Returns TypeScript source that compiles if every procedure of two router types is strictly equal: its kind, input, client
 * output, errors and client method. It has one line per procedure, so that the line of an error identifies the procedure.
 * @param real the module that exports the router as a value, and the name of the export
 * @param flat the module that exports the generated `AppRouter`
 */
export function equalitySource(
  real: { readonly module: string; readonly name: string },
  flat: string,
  paths: readonly string[],
  anyPaths: ReadonlySet<string> = new Set(),
): string {
  return `import type { createTRPCClient } from '@trpc/client';
import type { inferProcedureErrorShape, inferProcedureInput, inferTransformedProcedureOutput, inferRouterInputs, inferRouterOutputs } from '@trpc/server';
import type { ${real.name} } from '${real.module}';
import type { AppRouter, RouterInputs, RouterOutputs } from '${flat}';
type Real = typeof ${real.name};
type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true : false;
type IsAny<T> = 0 extends 1 & T ? true : false;
type RealClient = ReturnType<typeof createTRPCClient<Real>>;
type FlatClient = ReturnType<typeof createTRPCClient<AppRouter>>;
type Call<Method> = Method extends { query: infer F } | { mutate: infer F } ? F : never;
type Takes<F> = F extends (input: infer Input, ...rest: never) => unknown ? Input : never;
type Gives<F> = F extends (...args: never) => PromiseLike<infer Output> ? Output : never;
type Events<Method> = Method extends { subscribe: (...args: infer Args) => AsyncIterable<infer Event> } ? [Args[0], Event] : never;
declare function same<A, B>(...equal: Equal<A, B> extends true ? [] : [real: A, flat: B]): void;
declare function known<T>(...isAny: IsAny<T> extends true ? ['is any'] : []): void;
same<Real['_def']['_config']['$types']['transformer'], AppRouter['_def']['_config']['$types']['transformer']>();
same<Real['_def']['_config']['$types']['errorShape'], AppRouter['_def']['_config']['$types']['errorShape']>();
same<keyof inferRouterInputs<Real>, keyof RouterInputs>();
${paths.map((path) => `/* ${path} */ ${equalityChecks(path, anyPaths.has(path))}`).join('\n')}
`;
}

// Compares each part separately: for two uses of one generic alias, tsc compares the arguments, not the resolved types.
function equalityChecks(path: string, isAny: boolean): string {
  const at = path
    .split('.')
    .map((step) => `['${step}']`)
    .join('');
  const [real, flat] = ['Real', 'AppRouter'].map((router) => `${router}['_def']['record']${at}`);
  return [
    `same<${real}['_def']['type'], ${flat}['_def']['type']>()`,
    `same<inferProcedureInput<${real}>, inferProcedureInput<${flat}>>()`,
    `same<inferTransformedProcedureOutput<Real, ${real}>, inferTransformedProcedureOutput<AppRouter, ${flat}>>()`,
    `same<inferProcedureErrorShape<Real, ${real}>, inferProcedureErrorShape<AppRouter, ${flat}>>()`,
    `same<inferRouterInputs<Real>${at}, RouterInputs${at}>()`,
    `same<inferRouterOutputs<Real>${at}, RouterOutputs${at}>()`,
    `same<Takes<Call<RealClient${at}>>, Takes<Call<FlatClient${at}>>>()`,
    `same<Gives<Call<RealClient${at}>>, Gives<Call<FlatClient${at}>>>()`,
    `same<Events<RealClient${at}>, Events<FlatClient${at}>>()`,
    ...(isAny ? [] : [`known<RouterInputs${at}>()`, `known<RouterOutputs${at}>()`]),
  ].join('; ');
}

/** Returns the differences that the compiler reports, by procedure, and all its other errors. */
export function differences(files: Readonly<Record<string, string>>, printed: string): readonly string[] {
  return printed
    .split('\n')
    .filter((line) => line.includes('error TS'))
    .map((line) => {
      const {
        file = '',
        row = 0,
        column = 0,
      } = /^(?<file>[^(]+)\((?<row>\d+),(?<column>\d+)\)/.exec(line)?.groups ?? {};
      const text = files[file]?.split('\n')[Number(row) - 1] ?? '';
      const path = /^\/\* (.+?) \*\//.exec(text)?.[1];
      return path ? `${file} ${path}: ${text.slice(Number(column) - 1).split(';')[0]}` : line;
    });
}
