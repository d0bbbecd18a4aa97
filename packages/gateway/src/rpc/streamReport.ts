import type { AnyTRPCRouter, TRPCError } from '@trpc/server';
import { getHTTPStatusCodeFromError } from '@trpc/server/http';
import type { Answer } from '../answer.ts';
import { LimitError } from '../edge/limitError.ts';
import type { GatewayRequest } from '../http.ts';
import type { RpcOptions } from '../options.ts';
import type { ProcedureDefinition } from '../procedures.ts';
import { settled } from './plainAnswer.ts';
import { tellLimit } from './rpcFailure.ts';

/** What a streamed answer failed with: its head may be out by then. */
export class StreamReport<Router extends AnyTRPCRouter> {
  context: unknown = undefined;
  readonly #request: GatewayRequest;
  readonly #type: ProcedureDefinition['type'] | 'unknown';
  readonly #onError: RpcOptions<Router>['onError'];
  #answer: Answer | undefined = undefined;
  /** What failed unexpectedly, if anything did: the last of it. */
  #unexpected: unknown = undefined;
  #limited: LimitError | undefined = undefined;

  constructor(
    request: GatewayRequest,
    type: ProcedureDefinition['type'] | 'unknown',
    onError: RpcOptions<Router>['onError'],
  ) {
    this.#request = request;
    this.#type = type;
    this.#onError = onError;
  }

  tell(error: TRPCError, path: string | undefined, input: unknown): void {
    if (error instanceof LimitError) this.meet(error);
    else if (getHTTPStatusCodeFromError(error) >= 500) this.#unexpected = error;
    if (this.#answer) this.#answer.error = this.#unexpected;
    const ctx = this.context as never;
    void settled(this.#onError?.({ error, path, input, ctx, type: this.#type, req: this.#request }));
  }

  meet(error: LimitError): void {
    this.#limited = error;
    if (this.#answer) this.#answer.limit = error.limit;
  }

  /** Says it of the answer, from now on too. */
  follow(answer: Answer): Answer {
    if (this.#limited) tellLimit(answer, this.#limited);
    answer.error = this.#unexpected;
    this.#answer = answer;
    return answer;
  }
}
