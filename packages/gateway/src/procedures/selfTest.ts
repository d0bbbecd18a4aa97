import { initTRPC, type AnyTRPCProcedure } from '@trpc/server';
import { execute, Failure, type Executable } from './execute.ts';
import { compile } from './compile.ts';

/** A procedure built with the installed @trpc/server. */
export interface SampleProcedure {
  readonly procedure: AnyTRPCProcedure;
  /** The steps that its calls have run, since the list was last emptied. */
  readonly steps: unknown[];
}

/** Never read. Cloudflare Workers create no `AbortController` outside a request before 2026-08-19. */
const signal = {} as AbortSignal;

export function createSample(): SampleProcedure {
  const steps: unknown[] = [];
  const parser = (name: string) => (value: unknown) => {
    steps.push([name, value]);
    if (Object(value)[name] !== undefined) throw new Error(`Invalid: ${name}`);
    return { ...(value as object), [`parsed by ${name}`]: true };
  };
  const procedure = initTRPC
    .create()
    .procedure.input(parser('first input'))
    .use(async ({ ctx, input, next }) => {
      steps.push(['middleware', ctx, input]);
      const result = await next({ ctx: { added: true } });
      steps.push(['result', result.ok]);
      return result;
    })
    .output(parser('output'))
    .input(parser('second input'))
    .mutation(({ ctx, input }): never => {
      steps.push(['resolver', ctx, input]);
      if ('resolver' in input) throw new Error('Invalid: resolver');
      return { ctx, ...(input as object) } as never;
    }) as unknown as AnyTRPCProcedure;
  return { procedure, steps };
}

/** Describes the first difference, in steps or outcome, between a compiled call and tRPC's own, if any. */
export async function selfTest({ procedure, steps }: SampleProcedure): Promise<string | undefined> {
  /** Runs a call and returns its steps and its outcome as JSON. */
  async function transcript(stages: Executable['stages'], input: object): Promise<string> {
    steps.length = 0;
    const executable = { path: 'sample', type: 'mutation', meta: undefined, procedure, stages } as const;
    const source = { ctx: { user: 'sample' }, read: () => input };
    const outcome = await execute(executable, source, 0, { signal });
    const shown = outcome instanceof Failure ? [outcome.error.code, outcome.error.message] : outcome;
    return JSON.stringify([...steps, shown]);
  }

  try {
    const stages = compile(procedure, procedure);
    if (stages === undefined) return 'a procedure is not recognised';
    for (const failing of ['nothing', 'first input', 'second input', 'resolver', 'output']) {
      const input = { [failing]: true };
      if ((await transcript(undefined, input)) !== (await transcript(stages, input))) {
        return 'a compiled call behaves differently from a call by tRPC';
      }
    }
    return undefined;
  } catch (error) {
    return `the test of a procedure failed: ${String(error)}`;
  }
}
