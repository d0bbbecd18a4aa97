import type { AnyTRPCRouter, TRPCError } from '@trpc/server';
import type { Answer } from '../../http/answer.ts';
import type { LimitError } from '../../procedures/limitError.ts';
import type { HttpRequest } from '../../http/request.ts';
import type { RpcOptions } from './options.ts';
import type { ProcedureDefinition } from '../../procedures/procedures.ts';
import { CallFailures } from './callFailures.ts';
import { settled } from './plainAnswer.ts';

/** What a streamed answer failed with: its head may be out by then. */
export class StreamReport<Router extends AnyTRPCRouter> {
  context: unknown = undefined;
  readonly #request: HttpRequest;
  readonly #type: ProcedureDefinition['type'] | 'unknown';
  readonly #onError: RpcOptions<Router>['onError'];
  readonly #failures = new CallFailures();

  constructor(
    request: HttpRequest,
    type: ProcedureDefinition['type'] | 'unknown',
    onError: RpcOptions<Router>['onError'],
  ) {
    this.#request = request;
    this.#type = type;
    this.#onError = onError;
  }

  tell(error: TRPCError, path: string | undefined, input: unknown): void {
    this.#failures.add(error, path);
    const ctx = this.context as never;
    void settled(this.#onError?.({ error, path, input, ctx, type: this.#type, req: this.#request }));
  }

  meet(error: LimitError): void {
    this.#failures.add(error, undefined);
  }

  /** Says it of the answer, from now on too. */
  follow(answer: Answer): Answer {
    return this.#failures.follow(answer);
  }
}
