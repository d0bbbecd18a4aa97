import type { IncomingMessage, ServerResponse } from 'node:http';

type Request = IncomingMessage & { cookies: Partial<Record<string, string>> };

/** Reads the cookie and renews it, as libraries for sessions do. */
export async function getServerSession(req: Request, res: ServerResponse) {
  const token = req.cookies['session-token'];
  if (token === undefined) return null;
  res.setHeader('Set-Cookie', [
    ...[res.getHeader('Set-Cookie') ?? []].flat().map(String),
    `session-token=${token}2`,
    'seen=1',
  ]);
  return { user: token };
}
