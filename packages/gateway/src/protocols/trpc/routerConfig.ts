import { initTRPC, type AnyTRPCRouter, type TRPCError } from '@trpc/server';
import { getHTTPStatusCode } from '@trpc/server/http';
import { requireSync } from '../../http/hooks.ts';

/** @trpc/server before 11.25 has no `pathSeparator`, and separates paths by dots. */
export type RouterConfig = AnyTRPCRouter['_def']['_config'] & { readonly pathSeparator?: string };

/** The configuration with the defaults of the newest version. */
export type ServedConfig = RouterConfig & { readonly pathSeparator: string };

/**
 * Returns the status of a response, as tRPC's adapters do. @trpc/server before 11.25 does not read the errors: without
 * `data` in the shape of an error, which an `errorFormatter` may remove, the status is 200.
 */
export const statusOf: (item: never, errors: TRPCError[]) => number = getHTTPStatusCode;

export const noTransformer: RouterConfig['transformer']['output'] =
  initTRPC.create()._config.transformer.output;

/** Whether a router has no transformer, also one of another copy of @trpc/server. */
export const isWithoutTransformer = ({ transformer }: RouterConfig): boolean =>
  sourceOf(transformer.output) === sourceOf(noTransformer);

const sourceOf = (functions: object) => Object.values(functions).map(String).join('\n');

/** Returns a configuration whose formatter and transformer throw for a promise: tRPC sends it as `{}`. */
export function syncConfig({ _def }: AnyTRPCRouter): ServedConfig {
  const config: RouterConfig = _def._config;
  // oxlint-disable-next-line typescript/no-useless-default-assignment -- missing before @trpc/server 11.25
  const { errorFormatter, pathSeparator = '.', transformer } = config;
  const { input, output } = transformer;
  return {
    ...config,
    pathSeparator,
    errorFormatter: (options) => requireSync(errorFormatter(options), 'errorFormatter of the router'),
    ...(output !== noTransformer && {
      transformer: {
        input: {
          ...input,
          deserialize: (value) =>
            requireSync<unknown>(input.deserialize(value), 'deserialize of the transformer'),
        },
        output: {
          ...output,
          serialize: (value) => requireSync<unknown>(output.serialize(value), 'serialize of the transformer'),
        },
      },
    }),
  };
}
