import { STATUS_CODES } from 'node:http';
import type * as Uws from '@uwsjs/core';
import type { HttpRequest, HttpResponse } from '@uwsjs/core';
import { Failure, malformed, nowhere, unauthorized } from '../petStore/failure.ts';
import { createPet, getPet, listPets } from '../petStore/minimalOperations.ts';
import { queryBody, queryLines } from '../petStore/rpc.ts';

// uWebSockets.js and nothing else, as anyone writes it: the key is compared with one string, a response has a content-type,
// and nothing is hashed, numbered, logged, limited or checked besides.

// The package of uWebSockets.js that the gateway prefers too, or else the older one.
const { App }: typeof Uws = await import('@uwsjs/core').catch(
  () => import('uWebSockets.js') as Promise<unknown> as Promise<typeof Uws>,
);

const authorization = `Bearer ${process.env['API_KEY']}`;

function send(res: HttpResponse, status: number, body: string): void {
  if (status !== 200) res.writeStatus(`${status} ${STATUS_CODES[status]}`);
  res.writeHeader('content-type', 'application/json').end(body);
}

const sendResult = (res: HttpResponse, result: unknown, status = 200) =>
  send(res, result instanceof Failure ? result.status : status, JSON.stringify(result));

/** Reads a body, creates an animal of it, and sends that unless the client has gone. */
function create(res: HttpResponse): void {
  let before: Buffer | undefined;
  let isAborted = false;
  res.onAborted(() => {
    isAborted = true;
  });
  res.onData((chunk, isLast) => {
    const bytes = Buffer.from(chunk);
    if (!isLast) {
      // A copy: uWS takes the chunk back after this.
      before = Buffer.concat(before ? [before, bytes] : [bytes]);
      return;
    }
    let input: unknown;
    try {
      input = JSON.parse((before ? Buffer.concat([before, bytes]) : bytes).toString());
    } catch {
      sendResult(res, malformed);
      return;
    }
    void Promise.resolve(createPet(input)).then((pet) => {
      if (!isAborted) res.cork(() => sendResult(res, pet, 201));
    });
  });
}

/** Calls a handler once the credential is checked. */
const guarded =
  (handler: (res: HttpResponse, req: HttpRequest) => void) =>
  (res: HttpResponse, req: HttpRequest): void => {
    if (req.getHeader('authorization') === authorization) handler(res, req);
    else sendResult(res, unauthorized);
  };

const number = (text: string | undefined) => (text === undefined ? undefined : Number(text));

const app = App()
  .get(
    '/v1/pets/:petId',
    guarded((res, req) => sendResult(res, getPet({ petId: number(req.getParameter(0)) }))),
  )
  .get(
    '/v1/pets',
    guarded((res, req) => {
      const page = listPets({
        limit: number(req.getQuery('limit')),
        status: req.getQuery('status'),
        cursor: number(req.getQuery('cursor')),
      });
      sendResult(res, page instanceof Failure ? page : page.records);
    }),
  )
  .post('/v1/pets', guarded(create))
  .get(
    '/trpc/:path',
    guarded((res, req) => {
      const path = req.getParameter(0) ?? '';
      const input = req.getQuery('input');
      const inLines = req.getHeader('trpc-accept') === 'application/jsonl';
      send(
        res,
        200,
        inLines ? queryLines(path, input) : queryBody(path, input, req.getQuery('batch') === '1'),
      );
    }),
  )
  .any(
    '/*',
    guarded((res) => sendResult(res, nowhere)),
  );

app.listen('127.0.0.1', Number(process.env['PORT']), (socket) => {
  if (!socket) throw new Error('The port is not available.');
});
