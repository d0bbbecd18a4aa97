import type { GatewayResponse } from './http.ts';

/** A response on its way out, with what the log wants to know of how it was made. The host reads the response alone. */
export class Answer implements GatewayResponse {
  readonly status: number;
  readonly headers: [name: string, value: string][];
  readonly body: GatewayResponse['body'];
  /** The procedure that was called; of a batch, joined by commas. */
  operation: string | undefined = undefined;
  /** What failed unexpectedly. */
  error: unknown = undefined;

  constructor(status: number, headers: [name: string, value: string][], body?: GatewayResponse['body']) {
    this.status = status;
    this.headers = headers;
    this.body = body;
  }
}
