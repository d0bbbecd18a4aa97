import { findRouter, importModule, type ModuleExports } from 'trpc-gateway/command';
import { isZod } from 'trpc-gateway/schemas';
import { generateTypes, type TypesOptions } from './generateTypes.ts';
import { readOutputs } from './outputs/readOutputs.ts';
import { TypegenError } from './typegenError.ts';

/** The options of `trpc-gateway-typegen`. */
interface PrintOptions {
  readonly export?: string;
  readonly 'error-shape'?: string;
  readonly unknown?: readonly string[];
  readonly 'infer-outputs': boolean;
  readonly 'unknown-outputs': boolean;
}

/** Prints the types of the router that a module exports, and what the compiler leaves open of them. */
export async function printTypes(
  file: string,
  options: PrintOptions,
): Promise<{ readonly text: string; readonly open: readonly string[] }> {
  const exports = await importModule(file);
  const router = findRouter(exports, file, options.export);
  const inferred = options['infer-outputs'] && (await readOutputs({ file, name: options.export }));
  const text = await generateTypes(router, {
    exports,
    ...(options.unknown && { unknown: options.unknown }),
    unknownOutputs: options['unknown-outputs'],
    ...(inferred && { outputs: inferred.outputs }),
    ...findErrorShape(exports, file, options['error-shape']),
  });
  return { open: inferred ? inferred.open : [], text };
}

function findErrorShape(
  exports: ModuleExports,
  file: string,
  name: string | undefined,
): Pick<TypesOptions, 'errorShape'> {
  if (name === undefined || name === 'default') return name === undefined ? {} : { errorShape: name };
  const errorShape = exports[name];
  if (!isZod(errorShape)) throw new TypegenError(`${file} exports no zod schema named ${name}.`);
  return { errorShape };
}
