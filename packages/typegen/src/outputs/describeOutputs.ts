import type { OutputSchemas } from 'trpc-gateway';
import { readRouterTypes, type RouterLocation } from './routerTypes.ts';
import { SchemaWriter } from './schemaWriter.ts';

/** What types say of the outputs of a router, and a line for each part of them that is left open. */
export interface ReadOutputs {
  readonly outputs: OutputSchemas;
  readonly open: readonly string[];
}

/** Describes what the procedures of a router return. It blocks the thread while the compiler runs. @throws {TypegenError} */
export const describeOutputs = (location: RouterLocation): ReadOutputs =>
  readRouterTypes(location, ({ checker, isStrict, procedures, unread }) => {
    const writer = new SchemaWriter(checker);
    // Larger answers take 20 MB more.
    for (let from = 0; from < procedures.length; from += 100)
      writer.prepare(procedures.slice(from, from + 100).map(({ output }) => output));
    const schemas = procedures.map(
      ({ path, output, isEvent }) => [path, writer.write(path, output, isEvent)] as const,
    );
    const outputs = {
      version: 1,
      procedures: sorted(schemas),
      $defs: sorted(Object.entries(writer.definitions)),
    };
    return { outputs, open: [...(isStrict ? [] : [withoutStrict]), ...unread, ...writer.open] };
  });

const withoutStrict =
  'null in every output, since the project has no strictNullChecks: set strict in its tsconfig.json';

/** Sorted, so that a file differs only where types do. */
const sorted = (entries: readonly (readonly [string, object])[]): Record<string, object> =>
  Object.fromEntries(entries.toSorted(([one], [other]) => (one < other ? -1 : 1)));
