// Hot path: called for every request.
import type { HttpRequest } from '../../http/request.ts';
import type { BodyStream, HttpResponse } from '../../http/response.ts';
import type { HttpRejection, RejectHttp, Service } from '../../http/service.ts';
import { defaultRejection, internalErrorResponse } from './rejections.ts';

/** The part of all responders: the call of the service, and what streams do when the server stops. */
export abstract class ServiceResponder {
  protected readonly rejectHttp: RejectHttp;
  protected isDraining = false;
  /** Whether the deadline of the stop has passed: a call that began now would be cut. */
  protected isExpired = false;
  protected readonly streams = new Set<BodyStream>();
  /** Number of requests whose response has not ended, or whose client has disconnected while their calls still run. */
  protected running = 0;
  readonly #service: Service;

  constructor(service: Service) {
    this.#service = service;
    this.rejectHttp = service.rejectHttp ?? defaultRejection;
  }

  /** Counts work as in flight until its promise settles. */
  count(work: Promise<unknown>): void {
    this.running += 1;
    const onEnd = () => (this.running -= 1);
    work.then(onEnd, onEnd);
  }

  /** Called when the server stops: responses close their connections, and event streams end after the current event. */
  drain(): void {
    this.isDraining = true;
    for (const stream of this.streams) stream.end?.();
  }

  /** Called at the deadline of the stop. @returns whether a stream has a last event to send */
  expire(): boolean {
    this.isExpired = true;
    let isExpiring = false;
    for (const stream of this.streams) {
      if (!stream.expire) continue;
      stream.expire();
      isExpiring = true;
    }
    return isExpiring;
  }

  /** Passes a request, or its rejection, to the service. Returns a 500 if that throws, which violates its contract. */
  protected call(request: HttpRequest, rejection?: HttpRejection): HttpResponse | Promise<HttpResponse> {
    try {
      if (rejection !== undefined) return this.rejectHttp(request, rejection);
      return this.#service.shed?.(request) ?? this.#service.handle(request);
    } catch {
      return internalErrorResponse;
    }
  }
}
