import { mapMaybePromise } from '../../http/maybePromise.ts';
import type { BodyStream, OutgoingResponse } from '../../http/response.ts';
import type { CallContext } from '../../calls/requestContext.ts';
import { Failure } from '../../procedures/execute.ts';
import { JsonLines } from './jsonLines.ts';
import { jsonHeaders, RequestCalls, varyByTrpcAccept } from './requestCalls.ts';
import { noTransformer } from './routerConfig.ts';
import { blobError } from './trpcErrors.ts';

/** Responds to a batch of calls with JSON lines, as soon as each call has ended. */
export class LinesResponse extends RequestCalls {
  readonly readsIterables = true;
  #lines: JsonLines | undefined = undefined;
  #body: string | BodyStream = '';
  /** A context per call, so that the streams of others continue after one misses its deadline. */
  protected override readonly callContexts: CallContext[] = [];

  settle(index: number, outcome: unknown): void {
    const error = outcome instanceof Blob && blobError(this.request.procedures[index]);
    this.#lines?.settle(index, error ? new Failure(error) : outcome);
  }

  protected override start(ctx: unknown): void {
    const { request, context, settings } = this;
    const { jsonl, transformer } = settings.config;
    const { output } = transformer;
    // Headers that procedures set while they run are ignored: whether they arrive before the head depends on timing.
    this.controlHeaders = context.response.headers.slice();
    const lines = new JsonLines({
      serialize: output === noTransformer ? undefined : (line) => output.serialize(line) as unknown,
      maxLineBytes: settings.limits.maxResponseSize,
      calls: request.paths.length,
      pingMs: jsonl?.pingMs || undefined,
      context,
      toError: settings.toError,
      report: (error, index) => this.report(error, index === undefined ? undefined : this.callOf(index)),
      shapeOf: (error, index) => this.shapeOf(error, this.callOf(index)),
      watch: (onRevoked) => settings.watch(context, onRevoked),
      abort: () => {
        context.abort();
        for (const each of this.callContexts) each.abort();
      },
    });
    this.#lines = lines;
    super.start(ctx);
    void mapMaybePromise(lines.body(), (body) => {
      this.#body = body;
      this.end();
    });
  }

  protected write(): OutgoingResponse {
    const { contentType } = this.settings.config.jsonl ?? {};
    this.format = contentType === undefined ? jsonHeaders : [['content-type', contentType], varyByTrpcAccept];
    return this.response(this.#body);
  }

  protected override discard(): void {
    this.context.outcome.isPending = true;
    this.#lines?.cut();
  }
}
