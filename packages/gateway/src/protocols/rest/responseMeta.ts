import { getErrorShape, type AnyTRPCRouter, type TRPCError } from '@trpc/server';
import type { ResponseMetaFn } from '@trpc/server/http';
import type { ResponseDraft } from '../../http/responseDraft.ts';
import { isWritableHeader } from '../../http/headers.ts';
import type { Procedure } from '../../procedures/procedures.ts';
import { bodilessStatuses, metaHeaders } from '../../procedures/responseMeta.ts';

export type RestResponseMeta = ReturnType<typeof createRestResponseMeta>;

/** The output or the error of a call. `undefined` at the start of a stream. */
type Outcome = { readonly output?: unknown; readonly error?: TRPCError } | undefined;

/**
 * Creates the function that applies `trpc.responseMeta` to the response of a REST call. `responseMeta` receives the same
 * options as from tRPC, except that `info` is undefined, and `ctx` is undefined if it could not be created. The
 * function throws whatever `responseMeta` throws, and a `TypeError` for a status or a header that no adapter can write.
 */
export function createRestResponseMeta<Router extends AnyTRPCRouter>(
  { _def: { _config: config } }: Router,
  responseMeta: ResponseMetaFn<Router>,
) {
  return (response: ResponseDraft, { path, type }: Procedure, ctx: unknown, outcome: Outcome): void => {
    const error = outcome?.error;
    const result = error
      ? { error: getErrorShape({ config, ctx: ctx as never, error, input: undefined, path, type }) }
      : { result: { data: outcome?.output } };
    const returned = responseMeta({
      ctx,
      paths: [path],
      info: undefined,
      type,
      data: outcome ? [result] : [],
      errors: error ? [error] : [],
      eagerGeneration: outcome === undefined,
    });
    // As in tRPC, it may return nothing, contrary to its type: untyped code and mocks do.
    const meta = (returned as typeof returned | undefined) ?? {};
    // Checked here, since an adapter would respond with 500 after another status has been recorded.
    const invalid = (what: string, remedy: string) =>
      new TypeError(`trpc.responseMeta returned an invalid ${what} for procedure "${path}". ${remedy}`);
    for (const [name, value, isReplacing] of metaHeaders(meta)) {
      if (!isWritableHeader([name, value])) {
        throw invalid(
          `header ${JSON.stringify(name)}`,
          'Return a valid name, a value without line breaks and NUL, and no Content-Length, Connection or Transfer-Encoding.',
        );
      }
      if (isReplacing || name === 'content-type') {
        const isOther = ([other]: readonly [string, string]) => other.toLowerCase() !== name;
        response.sharedHeaders = response.sharedHeaders.filter(isOther);
        response.headers = response.headers.filter(isOther);
      }
      response.headers.push([name, value]);
    }
    const { status } = meta;
    if (status === undefined) return;
    if (!Number.isInteger(status) || status < 200 || status > 999) {
      throw invalid(`status ${status}`, 'Return an integer from 200 to 999.');
    }
    response.status = status;
    if (bodilessStatuses.has(status)) response.body = undefined;
  };
}
