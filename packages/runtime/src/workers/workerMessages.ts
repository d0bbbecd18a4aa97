import type { MetricsSnapshot } from '../metrics/family.ts';

/** A message from a worker to the supervisor. */
export type WorkerMessage =
  /** The worker serves. */
  | {
      readonly type: 'listening';
      readonly origin: string;
      readonly server: string;
      readonly version: string | undefined;
      readonly fallbackReason: string | undefined;
    }
  /** The worker could not start, or can no longer serve, and exits now. The message is the reason, one sentence. */
  | { readonly type: 'failed'; readonly message: string }
  /** The worker is stopping and accepts no new connections. */
  | { readonly type: 'stopping' }
  | WorkerResponse;

/** The response to the `WorkerRequest` with the same type and id. */
export type WorkerResponse =
  /** The worker's metrics; `null` if metrics are off. */
  | { readonly type: 'metrics'; readonly id: number; readonly metrics: MetricsSnapshot | null }
  /** The reason why the worker is not ready; `null` if it is ready. */
  | { readonly type: 'ready'; readonly id: number; readonly reason: string | null };

/** A request from the supervisor to a worker. */
export interface WorkerRequest {
  readonly type: WorkerResponse['type'];
  readonly id: number;
}
