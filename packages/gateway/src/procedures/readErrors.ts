import { TRPCError } from '@trpc/server';
import { definitionReader, type ErrorDefinitions } from './declareErrors.ts';
import { marker } from './execute.ts';
import { GatewayError } from '../checks/gatewayError.ts';
import type { ProcedureDefinition } from './compile.ts';

/**
 * `_def` does not expose formatters (@trpc/server 11.25), so each is called once with an error that collects the
 * definitions of `declareErrors` by `definitionReader`.
 * @returns `undefined` if there is no formatter
 * @throws {GatewayError} for two definitions of one code
 */
export async function readErrors(
  path: string,
  { middlewares, meta, type }: Pick<ProcedureDefinition, 'middlewares' | 'meta' | 'type'>,
  onCustomFormatter = () => {},
): Promise<ErrorDefinitions | undefined> {
  const formatters = middlewares.filter(({ _type }) => _type === 'errors');
  if (formatters.length === 0) return undefined;
  const collected: ErrorDefinitions[] = [];
  for (const formatter of formatters) {
    const error = Object.assign(new TRPCError({ code: 'INTERNAL_SERVER_ERROR' }), {
      [definitionReader]: (definitions: ErrorDefinitions) => collected.push(definitions),
    });
    const next = async () => ({ ok: false, error, marker });
    const { length } = collected;
    try {
      await formatter({ next, path, type, meta, ctx: {}, input: undefined });
    } catch {
      // A custom formatter may fail with this incomplete error: it declares nothing here.
    }
    if (collected.length === length) onCustomFormatter();
  }
  const merged = Object.assign({}, ...collected) as ErrorDefinitions;
  for (const [code, definition] of collected.flatMap((each) => Object.entries(each))) {
    if (merged[code] === definition) continue;
    throw new GatewayError(
      `Procedure "${path}" declares the error ${code} twice, with different definitions. Rename one of them.`,
    );
  }
  return merged;
}
