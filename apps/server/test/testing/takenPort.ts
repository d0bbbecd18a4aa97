import { reservePort } from 'trpc-gateway/serve';
import { onTestFinished } from 'vitest';

/** Returns a port that is in use until the test ends. */
export async function takenPort(): Promise<string> {
  const { port, release } = await reservePort('127.0.0.1', 0, false);
  onTestFinished(() => release());
  return String(port);
}
