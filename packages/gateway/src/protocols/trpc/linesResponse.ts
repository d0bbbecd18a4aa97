import { getTRPCErrorFromUnknown } from '@trpc/server';
import type { ResponseDraft } from '../../http/responseDraft.ts';
import type { BodyStream } from '../../http/response.ts';
import { CallScope } from '../../policies/callScope.ts';
import { JsonLines } from './jsonLines.ts';
import { RequestCalls } from './requestCalls.ts';

/** Answers a batch of calls by JSON lines, each as soon as its call has ended. */
export class LinesResponse extends RequestCalls {
  #lines: JsonLines | undefined = undefined;
  #body: string | BodyStream = '';
  readonly #scopes: CallScope[] = [];

  settle(index: number, outcome: unknown): void {
    this.#lines?.settle(index, outcome);
  }

  protected override get contextScope(): CallScope {
    // Each line has all of its time.
    return new CallScope(this.request.http);
  }

  /** One for each: the stream of a call goes on where another passes its deadline. */
  protected override callScope(): CallScope {
    const scope = new CallScope(this.request.http);
    this.#scopes.push(scope);
    return scope;
  }

  protected override run(): void {
    const { scope, settings } = this;
    // What procedures set while they run would be in the head of some responses, and not of others.
    this.head.keepReplyHeaders();
    const lines = new JsonLines(settings.lines, {
      calls: this.request.paths.length,
      pingMs: settings.lines.pingMs,
      signal: scope.signal,
      callError: (error, index) => {
        this.report(error, index);
        return this.errorItem(error, index).error;
      },
      outputError: (cause, index) => {
        const error = getTRPCErrorFromUnknown(cause);
        this.report(error);
        return this.errorItem(error, index).error;
      },
      watch: (onRevoked) => settings.watch(scope, onRevoked),
      abort: () => {
        scope.abort();
        for (const each of this.#scopes) each.abort();
      },
    });
    this.#lines = lines;
    super.run();
    const body = lines.body();
    if (body instanceof Promise) void body.then((whole) => this.#end(whole));
    else this.#end(body);
  }

  #end(body: string | BodyStream): void {
    this.#body = body;
    this.end();
  }

  protected write(): ResponseDraft {
    this.head.format = this.settings.lines.headers;
    this.decide(200, undefined, []);
    return this.head.answer(this.#body);
  }

  protected override discard(): void {
    this.#lines?.cut();
  }
}
