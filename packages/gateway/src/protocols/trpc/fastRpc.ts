// Hot path: tRPC's `resolveResponse` makes a Request, a Response, two Headers and a dozen promises for every call, which
// is 10 to 20 times the call (`npm run bench`, cases query and batch10).
import type { AnyTRPCRouter } from '@trpc/server';
import { after } from '../../http/after.ts';
import { PlainAnswer, type PlainOptions, type PlainRouter } from './plainAnswer.ts';
import { plainCall } from './plainCall.ts';
import {
  isPlainRouter,
  procedureFinder,
  readInputs,
  type PlainReader,
  type PlainReaderOptions,
} from './plainRequest.ts';

/** Reads calls, and batches of calls. @returns `undefined` where none of the router's calls is plain */
export function createFastRpc<Router extends AnyTRPCRouter>(
  options: PlainReaderOptions<Router>,
): PlainReader<PlainOptions> | undefined {
  if (!isPlainRouter(options)) return undefined;
  const { basePath, calls, definitions, limits } = options;
  const { allowBatching = true, maxBatchSize = Infinity, onError } = options.rpc;
  const config = options.router._def._config;
  const { maxResponseBytes } = limits;
  const shared: PlainRouter<Router> = { config, calls, onError, maxResponseBytes };
  const find = procedureFinder(definitions);

  return (request) => {
    const call = plainCall(request, basePath);
    if (call === undefined) return undefined;
    const { isBatch, paths } = call;
    if (isBatch && (!allowBatching || paths.length > maxBatchSize)) return undefined;
    const procedures = find(call, request.method);
    if (procedures === undefined) return undefined;
    return {
      paths,
      answer: (asked) =>
        after(readInputs(request, call, config.transformer.input, limits.maxBodyBytes), (inputs) =>
          new PlainAnswer(shared, request, asked, isBatch, procedures, inputs).make(),
        ),
    };
  };
}
