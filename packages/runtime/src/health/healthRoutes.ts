import type { HttpResponse } from 'trpc-gateway';

const checkTimeoutMs = 1_000;

/** Readiness checks by name. If a check throws, rejects or takes longer than 1 s, `/readyz` answers 503. */
export type Checks = Readonly<Record<string, () => unknown>>;

/** Thrown by a check to set the `reason` in the body of `/readyz`. For other errors the reason is the check's name. */
export class NotReadyError extends Error {
  override readonly name = 'NotReadyError';
  readonly reason: string;

  /** @param reason one word; every client of the port can read it */
  constructor(reason: string, options?: ErrorOptions) {
    super(`The service is not ready: ${reason}.`, options);
    this.reason = reason;
  }
}

/** The `reason` while the process stops. */
export const drainingReason = 'draining';

export interface HealthOptions {
  readonly checks: Checks;
  /** Returns true while the process is stopping. */
  readonly isDraining: () => boolean;
}

/** `/healthz` answers 200. `/readyz` answers 200 if every check passes, else 503 with the first reason. */
export const healthRoutes = (options: HealthOptions) => routesOf(() => notReadyReason(options));

/** @param notReady resolves with the reason why the service is not ready, or `undefined` */
export function routesOf(notReady: () => Promise<string | undefined>) {
  return {
    '/healthz': (): HttpResponse => jsonResponse(200, { status: 'ok' }),
    '/readyz': async (): Promise<HttpResponse> => {
      const reason = await notReady();
      return reason === undefined
        ? jsonResponse(200, { status: 'ok' })
        : jsonResponse(503, { status: 'unavailable', reason }, ['retry-after', '1']);
    },
  };
}

/** Returns `draining` while the process stops, else the reason of the first failing check; `undefined` if it is ready. */
export const notReadyReason = async ({ checks, isDraining }: HealthOptions): Promise<string | undefined> =>
  isDraining() ? drainingReason : failedCheck(checks);

/** Returns the reason of the first failing check, in definition order, or `undefined` if all pass. */
async function failedCheck(checks: Checks): Promise<string | undefined> {
  const reasons = Object.entries(checks).map(async ([name, check]) => {
    try {
      await withTimeout(check);
      return undefined;
    } catch (error) {
      return error instanceof NotReadyError ? error.reason : name;
    }
  });
  return (await Promise.all(reasons)).find((reason) => reason !== undefined);
}

/** Rejects if a check takes longer than its timeout: pending probes would pile up and delay a shutdown. */
async function withTimeout(check: () => unknown): Promise<void> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(reject, checkTimeoutMs).unref();
  try {
    await Promise.race([check(), late]);
  } finally {
    clearTimeout(timer);
  }
}

function jsonResponse(
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
