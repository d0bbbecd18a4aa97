import type { TRPCRequestInfo } from '@trpc/server/http';
import type { HttpRequest } from '../../http/request.ts';
import type { ProcedureDefinition } from '../../procedures/procedures.ts';
import type { PlainInputs } from './plainInputs.ts';

/** What tRPC tells `createContext` of the request. Few look at the URL, or at single calls: they are made then. */
export class PlainInfo implements TRPCRequestInfo {
  readonly isBatchCall: boolean;
  readonly accept: TRPCRequestInfo['accept'];
  readonly type: TRPCRequestInfo['type'];
  readonly connectionParams = null;
  readonly #request: HttpRequest;
  readonly #makeUrl: () => URL;
  readonly #procedures: readonly ProcedureDefinition[];
  readonly #inputs: PlainInputs;
  #calls: TRPCRequestInfo['calls'] | undefined = undefined;
  #url: URL | undefined = undefined;

  constructor(
    request: HttpRequest,
    makeUrl: () => URL,
    isBatchCall: boolean,
    procedures: readonly ProcedureDefinition[],
    inputs: PlainInputs,
    accept: TRPCRequestInfo['accept'] = null,
  ) {
    this.isBatchCall = isBatchCall;
    this.accept = accept;
    this.type = procedures[0]?.type ?? 'unknown';
    this.#request = request;
    this.#makeUrl = makeUrl;
    this.#procedures = procedures;
    this.#inputs = inputs;
  }

  get signal(): AbortSignal {
    return this.#request.signal;
  }

  get url(): URL {
    return (this.#url ??= this.#makeUrl());
  }

  get calls(): TRPCRequestInfo['calls'] {
    return (this.#calls ??= this.#procedures.map(({ path, procedure }, batchIndex) => ({
      batchIndex,
      path,
      procedure,
      getRawInput: async () => this.#inputs.read(batchIndex),
      result: () => this.#inputs.known(batchIndex),
    })));
  }
}
