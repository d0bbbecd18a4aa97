import type { HttpResponse } from '@petstore/gateway';

/** How long a check may take, in milliseconds. */
const checkMs = 10_000;

/**
 * What must hold for a service to be ready, by name. A check that throws, rejects or takes longer than 10 s makes `/readyz`
 * answer 503.
 */
export type Checks = Readonly<Record<string, () => unknown>>;

/** A check throws it to choose the `reason` in the body of `/readyz`; for other errors that is the check's name. */
export class NotReadyError extends Error {
  override readonly name = 'NotReadyError';
  readonly reason: string;

  /** @param reason one word, shown to anyone who reaches the port */
  constructor(reason: string, options?: ErrorOptions) {
    super(`The service is not ready: ${reason}.`, options);
    this.reason = reason;
  }
}

export interface HealthOptions {
  readonly checks: Checks | (() => Checks);
  /** Whether the process is stopping. */
  readonly isDraining: () => boolean;
}

/** `/healthz`: the process is alive. `/readyz`: every check passes, or 503 and the reason of the first one that fails. */
export function healthRoutes({ checks, isDraining }: HealthOptions) {
  return {
    '/healthz': (): HttpResponse => response(200, { status: 'ok' }),
    '/readyz': async (): Promise<HttpResponse> => {
      const reason = isDraining()
        ? 'draining'
        : await failedCheck(typeof checks === 'function' ? checks() : checks);
      return reason === undefined
        ? response(200, { status: 'ok' })
        : response(503, { status: 'unavailable', reason }, ['retry-after', '1']);
    },
  };
}

/** @returns the reason of the first check, in their order, that fails; `undefined` where all pass */
export async function failedCheck(checks: Checks): Promise<string | undefined> {
  const reasons = Object.entries(checks).map(async ([name, check]) => {
    try {
      await inTime(check);
      return undefined;
    } catch (error) {
      return error instanceof NotReadyError ? error.reason : name;
    }
  });
  return (await Promise.all(reasons)).find((reason) => reason !== undefined);
}

/** Rejects where a check takes too long: probes that wait for ever would add up, and hold up a stop. */
function inTime(check: () => unknown): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`It took longer than ${checkMs} ms.`)), checkMs).unref();
    void (async () => check())()
      .then(resolve, reject)
      .finally(() => clearTimeout(timer));
  });
}

function response(
  status: number,
  body: object,
  ...headers: (readonly [name: string, value: string])[]
): HttpResponse {
  return {
    status,
    headers: [['content-type', 'application/json'], ['cache-control', 'no-store'], ...headers],
    body: JSON.stringify(body),
  };
}
