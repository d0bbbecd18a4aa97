import { performance } from '../http/performance.ts';
import type { HttpRequest } from '../http/request.ts';
import type { RequestTelemetry } from './telemetry.ts';

/** How long the client of a request waits for the response. */
export interface ClientTimeout {
  readonly ms: number;
  /** When it ends, by `performance.now()`. */
  readonly endsAt: number;
}

/** What calls that begin together share: the signal that they are given, and the time that they have. */
export class CallScope {
  readonly request: HttpRequest;
  /** When its calls must have ended, by `performance.now()`; `undefined` as long as none was waited for. */
  deadline: number | undefined = undefined;
  /** `undefined` where the client does not say. */
  clientTimeout: ClientTimeout | undefined = undefined;
  /** `undefined` where nothing observes its calls. */
  telemetry: RequestTelemetry | undefined = undefined;
  readonly #parent: AbortSignal | undefined;
  #abort: AbortController | undefined = undefined;
  #isFollowing = false;

  /** @param parent what aborts the calls besides their deadline. Default: the request's client going away */
  constructor(request: HttpRequest, parent?: AbortSignal) {
    this.request = request;
    this.#parent = parent;
  }

  /** How long its calls may take, in milliseconds; `undefined`: `callTimeoutMs`. */
  get timeoutMs(): number | undefined {
    return undefined;
  }

  /** Sets the deadline, unless it is set: the sooner one of the calls' own and the client's. */
  begin(defaultTimeoutMs: number): void {
    if (this.deadline !== undefined) return;
    const ownDeadline = performance.now() + (this.timeoutMs ?? defaultTimeoutMs);
    this.deadline = Math.min(ownDeadline, this.clientTimeout?.endsAt ?? Infinity);
  }

  /** A scope for one of the calls of its request, which goes on where the others pass their deadline. */
  forOneCall(): CallScope {
    const scope = new CallScope(this.request);
    scope.clientTimeout = this.clientTimeout;
    scope.telemetry = this.telemetry;
    return scope;
  }

  /** Aborts with its parent, and at the deadline. Made when it is first read: it costs as much as a small call. */
  get signal(): AbortSignal {
    if (this.#abort === undefined) {
      this.#abort = new AbortController();
      if (!this.#isFollowing && (this.#parent?.aborted ?? this.request.isAborted)) this.#follow();
    }
    return this.#abort.signal;
  }

  /** To be called before anything is waited for: until then nobody can go away. */
  follow(): void {
    if (!this.#isFollowing) this.#follow();
  }

  abort(reason?: unknown): void {
    (this.#abort ??= new AbortController()).abort(reason);
  }

  #follow(): void {
    this.#isFollowing = true;
    const { request } = this;
    if (this.#parent === undefined && !request.isAborted && request.whenAborted) {
      return request.whenAborted((reason) => this.abort(reason));
    }
    const parent = this.#parent ?? this.request.signal;
    // Not AbortSignal.any: it takes 13 µs, this 0.2. The listener stays: the output may be a stream that goes on.
    if (parent.aborted) this.abort(parent.reason);
    else parent.addEventListener('abort', () => this.abort(parent.reason), { once: true });
  }
}

/** The scope of one call of a procedure that has a deadline of its own. */
export class OwnCallScope extends CallScope {
  readonly #timeoutMs: number;

  constructor(shared: CallScope, timeoutMs: number) {
    // Its parent must hear of a client that disconnects, which it otherwise does once something waits in it.
    shared.follow();
    super(shared.request, shared.signal);
    this.clientTimeout = shared.clientTimeout;
    this.telemetry = shared.telemetry;
    this.#timeoutMs = timeoutMs;
    this.follow();
  }

  override get timeoutMs(): number {
    return this.#timeoutMs;
  }
}
