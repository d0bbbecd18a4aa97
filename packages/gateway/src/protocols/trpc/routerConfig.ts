import { initTRPC, type AnyTRPCRouter } from '@trpc/server';
import { requireSync } from '../../http/hooks.ts';

export type RouterConfig = AnyTRPCRouter['_def']['_config'];

/** The transformer of outputs of a router without one. */
export const noTransformer: RouterConfig['transformer']['output'] =
  initTRPC.create()._config.transformer.output;

/**
 * Returns the configuration of a router, with an `errorFormatter` and a transformer that throw if they return a promise,
 * which tRPC would send as `{}`.
 */
export function syncConfig({ _def: { _config: config } }: AnyTRPCRouter): RouterConfig {
  const { errorFormatter, transformer } = config;
  const { input, output } = transformer;
  return {
    ...config,
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
