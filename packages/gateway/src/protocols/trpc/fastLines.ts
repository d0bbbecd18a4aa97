import { initTRPC, type AnyTRPCRouter } from '@trpc/server';
import { after } from '../../http/after.ts';
import type { Header } from '../../http/response.ts';
import { LineAnswer, type LineOptions, type LineRouter } from './lineAnswer.ts';
import { plainCall } from './plainCall.ts';
import {
  isPlainRouter,
  procedureFinder,
  readInputs,
  type PlainReader,
  type PlainReaderOptions,
} from './plainRequest.ts';

/** Reads batches that are to be answered by JSON lines. @returns `undefined` where none of the router's can be so */
export function createFastLines<Router extends AnyTRPCRouter>(
  options: PlainReaderOptions<Router>,
): PlainReader<LineOptions> | undefined {
  const { basePath, calls, definitions, limits } = options;
  const { allowBatching = true, maxBatchSize = Infinity, onError } = options.rpc;
  if (!allowBatching || !isPlainRouter(options)) return undefined;
  const config = options.router._def._config;
  const { contentType = 'application/json', pingMs } = config.jsonl ?? {};
  const headers: readonly Header[] = [
    ['content-type', contentType],
    ['vary', 'trpc-accept, accept'],
  ];
  const { output } = config.transformer;
  const shared: LineRouter<Router> = {
    config,
    calls,
    onError,
    headers,
    pingMs: pingMs || undefined,
    format: {
      maxLineBytes: limits.maxResponseBytes,
      serialize: output === none ? undefined : (line): unknown => output.serialize(line),
    },
  };
  const find = procedureFinder(definitions);

  return (request) => {
    if (request.header('trpc-accept') !== 'application/jsonl') return undefined;
    let lines = 0;
    // Of several, joined, none asks for JSON lines.
    const call = plainCall(request, basePath, (name) => name === 'trpc-accept' && ++lines > 1);
    if (call === undefined || !call.isBatch || call.paths.length > maxBatchSize) return undefined;
    const procedures = find(call, request.method);
    if (procedures === undefined) return undefined;
    return {
      paths: call.paths,
      answer: (asked) =>
        after(readInputs(request, call, config.transformer.input, limits.maxBodyBytes), (inputs) =>
          new LineAnswer(shared, request, asked, procedures, inputs).make(),
        ),
    };
  };
}

/** What a router has for a transformer where it names none. */
const none = initTRPC.create()._config.transformer.output;
