import { formatValue } from '../http/formatValue.ts';
import { GatewayError } from '../procedures/gatewayError.ts';

/** What one request, or one call, may take. `Infinity` lifts a limit. */
export interface Limits {
  /** The largest request body, in bytes; a larger one is 413. Default: 1048576. */
  readonly maxBodyBytes: number;
  /**
   * How large the JSON of an answer may be, in bytes, and of a tRPC batch that of all its answers together; the answer
   * that goes beyond is 413, and so are those of a batch behind it, which are not written any more. The calls have run by
   * then. Of JSON lines, server-sent events and answers on a WebSocket each is limited for itself, as clients take one
   * after the other; bytes (`produces`) and `routes` are not. Default: 16777216: no page of a list comes near it, and more
   * would stop the process for a tenth of a second, in which it serves nobody.
   */
  readonly maxResponseBytes: number;
  /**
   * How many parameters a query, or a form body, may have; more are 400. Default: 1000, as other servers have it (qs,
   * PHP): no form comes near it, and each parameter costs its decoding.
   */
  readonly maxQueryParameters: number;
  /**
   * How deep the arrays and objects of an input may be nested, over REST and tRPC; a deeper one is 400. What nobody
   * reads of a body may be anything. Default: 100: far beyond any schema that people write, and far from where code that
   * walks an input by recursion ends for want of stack.
   */
  readonly maxJsonDepth: number;
  /**
   * How many calls may run at once, on both protocols; one more is answered 503 at once, where all would be slow otherwise.
   * Each call of a batch counts, and so does a credential that is looked up; subscriptions and streams count until they
   * begin. Default: 1000.
   */
  readonly maxInFlight: number;
  /**
   * How long a request may wait before it is read, in milliseconds. Once requests have waited longer for half a second,
   * those that do are answered 503, before their credential is looked at; one burst is served whole. `OPTIONS`, what
   * `routes` serve and messages on a WebSocket are never refused. Default: Infinity, nothing is refused: what fits hangs
   * on what a call costs. Calls of 40 µs wait for 50 ms behind a thousand others, calls of 10 ms behind five.
   */
  readonly maxQueueMs: number;
  /**
   * How long a call may take, its context included, and how long a credential may be looked up, in milliseconds. Then it
   * is answered 504, its `signal` aborts, and it counts no longer. Each line of a
   * tRPC answer of JSON lines is a call. Subscriptions, and streams once they have begun, take as long as they like. Default: 30000: proxies in front wait for 60 s, and who waits longer
   * than 30 s has gone.
   */
  readonly callTimeoutMs: number;
}

const defaults: Limits = {
  maxBodyBytes: 1_048_576,
  maxResponseBytes: 16_777_216,
  maxQueryParameters: 1000,
  maxJsonDepth: 100,
  maxInFlight: 1000,
  maxQueueMs: Infinity,
  callTimeoutMs: 30_000,
};

/** How many calls a batch may have where nothing is said: ten times what a page that is being built asks at once. */
export const defaultBatchSize = 100;

/**
 * The limits that are in force.
 * @throws {GatewayError} for one that is not a positive number
 */
export function limitsOf(options: Partial<Limits>): Limits {
  const limits = Object.entries(defaults).map(([name, value]) => {
    const limit = options[name as keyof Limits] ?? value;
    if (limit > 0) return [name, limit];
    throw new GatewayError(
      `${name} is ${formatValue(limit)}; it must be a positive number, or Infinity for no limit.`,
    );
  });
  return Object.fromEntries(limits) as Limits;
}

/** @throws {GatewayError} for what is no positive integer */
export function requirePositiveIntegers(name: string, numbers: Readonly<Record<string, number>>): void {
  for (const [member, value] of Object.entries(numbers)) {
    if (Number.isSafeInteger(value) && value > 0) continue;
    throw new GatewayError(`${name}.${member} is ${formatValue(value)}; it must be a positive integer.`);
  }
}
