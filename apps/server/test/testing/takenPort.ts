import { reservePort } from 'trpc-gateway/serve';
import { onTestFinished } from 'vitest';

/** Returns a port that is in use. @param atEnd registers its release. Default: `onTestFinished` */
export async function takenPort(atEnd: (end: () => void) => void = onTestFinished): Promise<string> {
  const { port, release } = await reservePort('127.0.0.1', 0, false);
  atEnd(() => release());
  return String(port);
}
