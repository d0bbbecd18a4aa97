import type { AnyTRPCRouter } from '@trpc/server';
import type { ResponseMetaFn } from '@trpc/server/http';
import type { Reply } from '../../procedures/reply.ts';
import { bodiless, metaHeaders } from '../../procedures/responseMeta.ts';

/** What procedures say in `reply`, as a `responseMeta` for tRPC, with what the router's own says: that wins. */
export function withReply<Router extends AnyTRPCRouter>(
  responseMeta: ResponseMetaFn<Router> | undefined,
  reply: Reply,
): ResponseMetaFn<Router> {
  return (outcome) => {
    const meta = responseMeta?.(outcome) ?? {};
    const isSingle = outcome.info?.isBatchCall === false && !outcome.eagerGeneration;
    const status = meta.status ?? (isSingle && outcome.errors.length === 0 ? rpcStatus(reply) : undefined);
    const said = rpcHeaders(reply);
    const others = status === undefined ? {} : { status };
    if (said.length === 0) return { ...meta, ...others };
    const headers: Record<string, string | string[]> = {};
    for (const [name, value, isReplacing] of [...said.map(asAdded), ...metaHeaders(meta)]) {
      headers[name] = isReplacing ? value : [...[headers[name] ?? []].flat(), value];
    }
    return { headers, ...others };
  };
}

const asAdded = ([name, value]: readonly [string, string]) => [name, value, false] as const;

/** Headers of a tRPC answer: its body is always JSON, whatever type the procedure's output has over REST. */
export const rpcHeaders = ({ headers }: Reply): readonly (readonly [string, string])[] =>
  headers.length === 0 ? headers : headers.filter(([name]) => name !== 'content-type');

/** The status of a tRPC answer; `undefined` where it could not carry the envelope that clients read: a redirect, 204. */
export const rpcStatus = ({ status }: Reply): number | undefined =>
  status !== undefined && status >= 200 && status <= 299 && !bodiless.has(status) ? status : undefined;
