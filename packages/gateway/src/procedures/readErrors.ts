import { TRPCError } from '@trpc/server';
import { checkDefinition, definitionReader, type ErrorDefinitions } from './declareErrors.ts';
import { marker } from './execute.ts';
import { GatewayError } from '../http/gatewayError.ts';
import type { ProcedureDefinition } from './compile.ts';

/**
 * Reads the errors that a procedure declares, by `.errors(declareErrors(…))` or, for a custom formatter, by its
 * metadata. `_def` does not expose formatters (@trpc/server 11.25), so each is called once with an error that collects
 * the definitions of `declareErrors` by `definitionReader`.
 * @param listed the definitions in its metadata
 * @returns `undefined` if the procedure has no formatter
 * @throws {GatewayError} for metadata without a formatter, an invalid definition, and two definitions of one code
 */
export async function readErrors(
  path: string,
  { middlewares, meta, type }: ProcedureDefinition,
  listed?: ErrorDefinitions,
): Promise<ErrorDefinitions | undefined> {
  const formatters = middlewares.filter(({ _type }) => _type === 'errors');
  if (listed && formatters.length === 0) {
    throw new GatewayError(
      `Procedure "${path}" lists errors in its metadata, but no formatter sends them to tRPC clients. Use .errors(declareErrors({ … })) instead of the metadata.`,
    );
  }
  const collected: ErrorDefinitions[] = listed ? [listed] : [];
  for (const formatter of formatters) {
    const error = Object.assign(new TRPCError({ code: 'INTERNAL_SERVER_ERROR' }), {
      [definitionReader]: (definitions: ErrorDefinitions) => collected.push(definitions),
    });
    const next = async () => ({ ok: false, error, marker });
    try {
      await formatter({ next, path, type, meta, ctx: {}, input: undefined });
    } catch {
      // A custom formatter may fail with this incomplete error: it declares nothing here.
    }
  }
  return formatters.length === 0 ? undefined : mergeDefinitions(path, collected);
}

function mergeDefinitions(path: string, all: readonly ErrorDefinitions[]): ErrorDefinitions {
  const definitions = Object.assign({}, ...all) as ErrorDefinitions;
  for (const [code, definition] of all.flatMap((each) => Object.entries(each))) {
    if (definitions[code] !== definition) {
      throw new GatewayError(
        `Procedure "${path}" declares the error ${code} twice, with different definitions. Rename one of them.`,
      );
    }
    try {
      checkDefinition(code, definition);
    } catch (error) {
      throw new GatewayError(`Procedure "${path}": ${(error as Error).message}`);
    }
  }
  return definitions;
}
