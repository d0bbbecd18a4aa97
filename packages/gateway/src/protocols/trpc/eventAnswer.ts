import { getErrorShape, getTRPCErrorFromUnknown, TRPCError, type AnyTRPCRouter } from '@trpc/server';
import { isObservable, observableToAsyncIterable } from '@trpc/server/observable';
import { isThenable } from '../../http/after.ts';
import { Answer } from '../../http/answer.ts';
import type { Calls } from '../../policies/calls.ts';
import { CallScope } from '../../policies/callScope.ts';
import { Failed } from '../../procedures/failed.ts';
import type { HttpRequest } from '../../http/request.ts';
import type { Header } from '../../http/response.ts';
import { isAsyncIterable } from '../../http/isAsyncIterable.ts';
import { ServerSentEvents, type EventStreamTimes } from '../../http/serverSentEvents.ts';
import type { RpcOptions } from './options.ts';
import type { ProcedureDefinition } from '../../procedures/procedures.ts';
import { rpcHeaders } from './responseMeta.ts';
import type { EventInputs } from './eventInputs.ts';
import type { LineOptions } from './lineAnswer.ts';
import { PlainInfo } from './plainInfo.ts';
import { RpcEventFormat, type RpcEventFormatOptions } from './rpcEventFormat.ts';
import { StreamReport } from './streamReport.ts';

/** What all answers of a router share. */
export interface EventRouter<Router extends AnyTRPCRouter> {
  readonly config: Router['_def']['_config'];
  readonly calls: Calls;
  readonly onError: RpcOptions<Router>['onError'];
  readonly events: RpcEventFormatOptions & EventStreamTimes;
}

/** Calls a subscription, and answers by its events as `resolveResponse` (@trpc/server 11.25) does, to the byte. */
export function eventAnswer<Router extends AnyTRPCRouter>(
  { config, calls, onError, events }: EventRouter<Router>,
  request: HttpRequest,
  options: LineOptions,
  definition: ProcedureDefinition,
  inputs: EventInputs,
  lastEventId: string | null,
): Answer | Promise<Answer> {
  const { path, type } = definition;
  const report = new StreamReport<Router>(request, type, onError);
  const scope = new CallScope(request);

  const fail = (cause: unknown) => {
    const error = getTRPCErrorFromUnknown(cause);
    const input = inputs.known(0);
    report.tell(error, path, input);
    return getErrorShape({ config, ctx: report.context as never, error, input, path, type });
  };

  /** A call that fails is told of twice: as such, and as what its stream fails with. */
  function failed(cause: unknown): Answer {
    const error = getTRPCErrorFromUnknown(cause);
    report.tell(error, path, inputs.known(0));
    return answer(failing(error));
  }

  function begun(output: unknown): Answer {
    if (output instanceof Failed) return failed(output.error);
    if (isObservable(output)) return answer(observableToAsyncIterable(output, scope.signal));
    if (isAsyncIterable(output)) return answer(output);
    const message = `Subscription ${path} did not return an observable or a AsyncGenerator`;
    return answer(failing(new TRPCError({ message, code: 'INTERNAL_SERVER_ERROR' })));
  }

  function answer(iterable: AsyncIterable<unknown>): Answer {
    // Before anything is waited for.
    scope.follow();
    const body = new ServerSentEvents(iterable, new RpcEventFormat(events, lastEventId, fail), {
      pingMs: events.pingMs,
      maxDurationMs: events.maxDurationMs,
      watch: options.watch,
      abort: () => scope.abort(),
    });
    // Nobody is there to be told, and nothing failed but the connection.
    if (request.isAborted) {
      body.end();
      return new Answer(499, []);
    }
    const made = new Answer(200, rpcHeaders(options.reply).slice(), body, eventHeaders);
    made.operation = path;
    return report.follow(made);
  }

  function call(context: unknown): Answer | Promise<Answer> {
    report.context = context;
    try {
      const output = calls.run(path, scope, () =>
        definition.call(context, () => inputs.read(0), scope.signal, 0),
      );
      return output instanceof Promise ? output.then(begun, failed) : begun(output);
    } catch (cause) {
      return failed(cause);
    }
  }

  const info = new PlainInfo(request, options.url, false, [definition], inputs);
  let made: unknown;
  try {
    made = options.createContext(info);
  } catch (cause) {
    return failed(cause);
  }
  if (!isThenable(made)) return call(made);
  return calls.waitPromise(new CallScope(request), Promise.resolve(made)).then(call, failed);
}

const eventHeaders: readonly Header[] = [
  ['cache-control', 'no-cache, no-transform'],
  ['content-type', 'text/event-stream'],
  ['vary', 'trpc-accept, accept'],
  ['x-accel-buffering', 'no'],
];

/** Events of which there is none. */
const failing = (error: TRPCError): AsyncIterable<never> => ({
  [Symbol.asyncIterator]: () => ({
    next: async () => {
      throw error;
    },
  }),
});
