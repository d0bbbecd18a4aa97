import type { MetricsSnapshot } from '../metrics/family.ts';

/** What a worker tells the process that started it. */
export type FromWorker =
  /** It serves. */
  | { readonly type: 'listening'; readonly origin: string; readonly server: string }
  /** It could not start, and why: one sentence. It ends now. */
  | { readonly type: 'failed'; readonly message: string }
  /** It was told to stop, and takes no new connection any more. */
  | { readonly type: 'stopping' }
  | ReceivedResponse;

/** What it answers to the `ToWorker` of the same type and id. */
export type ReceivedResponse =
  /** What it has counted; `null` where it counts nothing. */
  | { readonly type: 'metrics'; readonly id: number; readonly metrics: MetricsSnapshot | null }
  /** The reason why it is not ready; `null` where it is. */
  | { readonly type: 'ready'; readonly id: number; readonly fault: string | null };

/** What a worker is asked. */
export interface ToWorker {
  readonly type: ReceivedResponse['type'];
  readonly id: number;
}
